"""The status of disruption budgets follows pods and their controllers."""

import pytest

WEB = {"matchLabels": {"app": "web"}}


def budget(cluster, selector=WEB, **spec):
    cluster.store.create(
        "poddisruptionbudgets.policy",
        {"metadata": {"name": "web", "namespace": "default"}, "spec": {"selector": selector, **spec}},
    )
    cluster.settle()


def status(cluster):
    found = cluster.store.get("poddisruptionbudgets.policy", "web", "default")["status"]
    return tuple(found[name] for name in ("expectedPods", "currentHealthy", "desiredHealthy", "disruptionsAllowed"))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minAvailable": 2}, (5, 5, 2, 3)),
        ({"minAvailable": 5}, (5, 5, 5, 0)),
        ({"minAvailable": 7}, (5, 5, 7, 0)),
        ({"minAvailable": "50%"}, (5, 5, 3, 2)),
        ({"minAvailable": "100%"}, (5, 5, 5, 0)),
        ({"maxUnavailable": 1}, (5, 5, 4, 1)),
        ({"maxUnavailable": 9}, (5, 5, 0, 5)),
        ({"maxUnavailable": 0}, (5, 5, 5, 0)),
        ({"maxUnavailable": "30%"}, (5, 5, 3, 2)),
        ({}, (5, 5, 1, 4)),
    ],
)
def test_percentages_are_rounded_up_both_ways(cluster, spec, expected) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=5)
    cluster.advance(5)
    budget(cluster, **spec)
    assert status(cluster) == expected
    condition = cluster.condition("poddisruptionbudgets.policy", "web", "DisruptionAllowed")
    assert condition["status"] == str(expected[-1] > 0)
    assert condition["reason"] == ("SufficientPods" if expected[-1] else "InsufficientPods")


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "StatefulSet"])
def test_what_should_be_there_is_what_the_controller_was_told(cluster, kind) -> None:
    cluster.boot("a", capacity={"cpu": 4000, "memory": 1024**3, "pods": 3})
    cluster.workload(kind, replicas=10)
    cluster.advance(10)
    budget(cluster, maxUnavailable="50%")
    assert status(cluster) == (10, 3, 5, 0)


def test_a_fixed_minimum_counts_the_pods_that_are_there(cluster) -> None:
    cluster.boot("a")
    cluster.pod("one", labels={"app": "web"})
    cluster.pod("two", labels={"app": "web"})
    cluster.advance(5)
    budget(cluster, minAvailable=1)
    assert status(cluster) == (2, 2, 1, 1)


def test_pods_without_a_controller_count_for_nothing_in_a_percentage(cluster) -> None:
    cluster.boot("a")
    cluster.pod("alone", labels={"app": "web"})
    cluster.advance(5)
    budget(cluster, minAvailable="50%")
    assert status(cluster) == (0, 1, 0, 0)


def test_a_controller_without_replicas_allows_nothing(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Job", "web", parallelism=2, completions=2)
    cluster.advance(5)
    budget(cluster, maxUnavailable=1)
    found = cluster.store.get("poddisruptionbudgets.policy", "web", "default")
    assert found["status"]["disruptionsAllowed"] == 0
    condition = cluster.condition("poddisruptionbudgets.policy", "web", "DisruptionAllowed")
    assert condition["reason"] == "SyncFailed"
    assert condition["message"].startswith("Job web of pod web-")
    assert condition["message"].endswith("has no number of replicas")


def test_a_leaving_pod_is_not_healthy_and_its_successor_is_when_it_is_ready(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=3)
    budget(cluster, minAvailable=2)
    cluster.advance(5)
    assert status(cluster) == (3, 3, 2, 1)
    cluster.store.delete("pods", cluster.pods("web")[0]["metadata"]["name"], "default")
    cluster.settle()
    assert status(cluster)[1:] == (2, 2, 0)
    cluster.advance(5)
    assert status(cluster) == (3, 3, 2, 1)


def test_scaling_the_controller_changes_the_demand(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=4)
    budget(cluster, maxUnavailable="25%")
    cluster.advance(5)
    assert status(cluster) == (4, 4, 3, 1)
    cluster.edit("deployments.apps", "web", replicas=8)
    cluster.advance(5)
    assert status(cluster) == (8, 8, 6, 2)


def test_a_granted_eviction_counts_until_the_pod_goes_or_two_minutes_are_over(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=3)
    budget(cluster, minAvailable=1)
    cluster.advance(5)
    granted = {cluster.pods("web")[0]["metadata"]["name"]: "2030-01-01T00:00:05Z"}

    def grant(found):
        found["status"]["disruptedPods"] = granted

    cluster.store.modify("poddisruptionbudgets.policy", "web", "default", grant)
    cluster.settle()
    assert status(cluster) == (3, 2, 1, 1)
    cluster.advance(119)
    assert status(cluster) == (3, 2, 1, 1)
    cluster.advance(1)
    assert status(cluster) == (3, 3, 1, 2)
    assert cluster.store.get("poddisruptionbudgets.policy", "web", "default")["status"]["disruptedPods"] == {}


def test_a_granted_eviction_is_settled_when_the_pod_is_deleted(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=3)
    budget(cluster, minAvailable=1)
    cluster.advance(5)
    name = cluster.pods("web")[0]["metadata"]["name"]
    granted = {name: "2030-01-01T00:00:05Z"}
    cluster.store.modify(
        "poddisruptionbudgets.policy", "web", "default", lambda found: found["status"].update(disruptedPods=granted)
    )
    cluster.store.delete("pods", name, "default")
    cluster.settle()
    assert cluster.store.get("poddisruptionbudgets.policy", "web", "default")["status"]["disruptedPods"] == {}


@pytest.mark.parametrize(("selector", "covered"), [({}, 2), (None, 0), ({"matchLabels": {"app": "web"}}, 1)])
def test_an_empty_selector_covers_all_pods_of_the_namespace_and_none_covers_nothing(cluster, selector, covered) -> None:
    cluster.boot("a")
    cluster.pod("web", labels={"app": "web"})
    cluster.pod("db", labels={"app": "db"})
    cluster.pod("far", labels={"app": "web"}, namespace="other")
    cluster.advance(5)
    budget(cluster, selector, minAvailable=0)
    assert status(cluster)[:2] == (covered, covered)


def test_a_pod_whose_label_changes_leaves_the_budget(cluster) -> None:
    cluster.boot("a")
    cluster.pod("web", labels={"app": "web"})
    budget(cluster, minAvailable=0)
    cluster.advance(5)
    assert status(cluster)[0] == 1
    cluster.store.modify("pods", "web", "default", lambda pod: pod["metadata"].update(labels={}))
    cluster.settle()
    assert status(cluster)[0] == 0


def test_the_status_says_which_generation_it_is_about(cluster) -> None:
    budget(cluster, minAvailable=1)
    cluster.edit("poddisruptionbudgets.policy", "web", minAvailable=2)
    cluster.settle()
    found = cluster.store.get("poddisruptionbudgets.policy", "web", "default")
    assert found["status"]["observedGeneration"] == found["metadata"]["generation"] == 2
