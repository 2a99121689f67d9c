"""Deployments roll their template out and keep enough pods serving meanwhile."""

import pytest
from nodewright_fake.controllers.workloads.deployments import Size, next_sizes

V2 = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "app:2"}]}}


def sets(cluster):
    """Replicas of each ReplicaSet by revision."""
    return {
        int(each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]): each["spec"]["replicas"]
        for each in cluster.store.list("replicasets.apps")
    }


def status(cluster):
    return cluster.store.get("deployments.apps", "web", "default")["status"]


def images(cluster):
    return sorted(pod["spec"]["containers"][0]["image"] for pod in cluster.pods("web"))


def test_a_deployment_makes_a_replicaset_named_by_its_template(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=3)
    cluster.advance(5)
    (found,) = cluster.store.list("replicasets.apps")
    label = found["metadata"]["labels"]["pod-template-hash"]
    assert found["metadata"]["name"] == f"web-{label}"
    assert found["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": label}
    assert all(pod["metadata"]["labels"]["pod-template-hash"] == label for pod in cluster.pods())
    counts = {name: status(cluster)[name] for name in ("replicas", "updatedReplicas", "readyReplicas")}
    assert counts == {"replicas": 3, "updatedReplicas": 3, "readyReplicas": 3}
    assert cluster.condition("deployments.apps", "web", "Available")["status"] == "True"
    assert cluster.condition("deployments.apps", "web", "Progressing")["reason"] == "NewReplicaSetAvailable"


def test_scaling_changes_no_revision(cluster) -> None:
    cluster.workload("Deployment", replicas=3)
    cluster.settle()
    cluster.edit("deployments.apps", "web", replicas=1)
    cluster.settle()
    assert sets(cluster) == {1: 1}


def test_a_new_template_is_rolled_out_step_by_step(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=4)
    cluster.advance(5)
    cluster.edit("deployments.apps", "web", template=V2)
    seen = []
    for _ in range(100):
        cluster.advance(0.5)
        active = cluster.pods("web")
        serving = sum(condition_true(pod, "Ready") for pod in active)
        assert serving >= 3, "25 % of 4 is one that may be missing"
        assert len(active) <= 5, "25 % of 4 is one that may be too many"
        seen.append(tuple(sets(cluster).get(number, 0) for number in (1, 2)))
        if images(cluster) == ["app:2"] * 4 and status(cluster).get("availableReplicas") == 4:
            break
    assert sets(cluster) == {1: 0, 2: 4}
    assert len(set(seen)) > 2, "it went by steps"
    assert cluster.condition("deployments.apps", "web", "Progressing")["reason"] == "NewReplicaSetAvailable"


def condition_true(pod, kind):
    conditions = pod.get("status", {}).get("conditions", ())
    return any(entry["type"] == kind and entry["status"] == "True" for entry in conditions)


def test_a_rollout_that_cannot_be_placed_stops_at_its_leeway(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=4)
    cluster.advance(5)
    broken = {**V2, "spec": {**V2["spec"], "nodeSelector": {"no": "where"}}}
    cluster.edit("deployments.apps", "web", template=broken)
    cluster.advance(60)
    assert sets(cluster) == {1: 3, 2: 2}
    assert status(cluster)["availableReplicas"] == 3
    assert status(cluster)["unavailableReplicas"] == 1


def test_going_back_takes_the_old_replicaset_again(cluster) -> None:
    cluster.boot("a")
    first = cluster.workload("Deployment", replicas=2)["spec"]["template"]
    cluster.advance(5)
    cluster.edit("deployments.apps", "web", template=V2)
    cluster.advance(30)
    cluster.edit("deployments.apps", "web", template=first)
    cluster.advance(30)
    assert sets(cluster) == {2: 0, 3: 2}
    annotations = cluster.store.get("deployments.apps", "web", "default")["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision"] == "3"


def test_a_field_that_is_written_out_empty_is_no_new_template(cluster) -> None:
    template = cluster.workload("Deployment", replicas=1)["spec"]["template"]
    cluster.settle()
    metadata = {**template["metadata"], "creationTimestamp": None, "annotations": {}}
    cluster.edit("deployments.apps", "web", template={**template, "metadata": metadata})
    cluster.settle()
    assert sets(cluster) == {1: 1}


def test_recreate_waits_until_the_last_old_pod_is_gone(cluster) -> None:
    cluster.boot("a")
    slow = {"annotations": {"fake.nodewright.dev/stop-seconds": "10"}}
    cluster.workload("Deployment", replicas=2, strategy={"type": "Recreate"}, template=slow)
    cluster.advance(5)
    cluster.edit("deployments.apps", "web", template=V2)
    cluster.advance(9)
    assert images(cluster) == []
    cluster.advance(2)
    assert images(cluster) == ["app:2", "app:2"]


def test_a_paused_deployment_scales_but_rolls_nothing_out(cluster) -> None:
    cluster.workload("Deployment", replicas=2)
    cluster.settle()
    cluster.edit("deployments.apps", "web", paused=True)
    cluster.edit("deployments.apps", "web", template=V2, replicas=3)
    cluster.settle()
    assert images(cluster) == ["app"] * 3
    cluster.edit("deployments.apps", "web", paused=False)
    cluster.settle()
    assert set(sets(cluster)) == {1, 2}


def test_only_so_many_old_replicasets_are_kept(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=1, revisionHistoryLimit=1)
    cluster.settle()
    for number in range(3):
        template = {**V2, "spec": {"containers": [{"name": "main", "image": f"app:{number}"}]}}
        cluster.edit("deployments.apps", "web", template=template)
        cluster.advance(30)
    assert sets(cluster) == {3: 0, 4: 1}


def test_deleting_a_deployment_deletes_everything_below_it(cluster) -> None:
    cluster.boot("a")
    cluster.workload("Deployment", replicas=2)
    cluster.advance(5)
    cluster.store.delete("deployments.apps", "web", "default")
    cluster.advance(5)
    assert cluster.store.list("replicasets.apps") == cluster.store.list("pods") == []


def test_a_percentage_that_is_none_is_named_in_the_log(cluster, caplog) -> None:
    cluster.workload("Deployment", replicas=2, strategy={"rollingUpdate": {"maxSurge": "some"}})
    cluster.settle()
    assert "'some' is neither a number nor a percentage such as 25%" in caplog.text


@pytest.mark.parametrize(
    ("wanted", "current", "old", "leeway", "sizes"),
    [
        (4, (0, 0), [(4, 4)], (1, 1), (1, [3])),
        (4, (1, 0), [(3, 3)], (1, 1), (2, [3])),
        (4, (2, 2), [(3, 3)], (1, 1), (2, [1])),
        (4, (0, 0), [(4, 2)], (1, 1), (1, [3])),
        (4, (0, 0), [(4, 4)], (0, 1), (0, [3])),
        (4, (0, 0), [(4, 4)], (1, 0), (1, [4])),
        (4, (1, 1), [(4, 4)], (1, 0), (1, [3])),
        (2, (4, 4), [], (1, 1), (2, [])),
        (10, (2, 2), [(3, 3)], (2, 2), (9, [3])),
        (4, (4, 4), [(1, 1), (1, 0)], (1, 1), (4, [0, 0])),
        (4, (1, 0), [(2, 2), (2, 0)], (1, 1), (1, [2, 1])),
    ],
)
def test_one_step_of_a_rolling_update(wanted, current, old, leeway, sizes) -> None:
    surge, unavailable = leeway
    old_sizes = [Size(*size) for size in old]
    assert next_sizes(wanted, Size(*current), old_sizes, surge=surge, unavailable=unavailable) == sizes
