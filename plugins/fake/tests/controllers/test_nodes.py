"""What follows from the state of nodes: taints, evictions, garbage."""

import pytest


def taints(cluster, name="a"):
    return [(taint["key"], taint["effect"]) for taint in cluster.store.get("nodes", name)["spec"]["taints"]]


def say(cluster, kind, status):
    def change(node):
        conditions = [entry for entry in node["status"]["conditions"] if entry["type"] != kind]
        node["status"]["conditions"] = [*conditions, {"type": kind, "status": status}]

    cluster.store.modify("nodes", "a", "", change)
    cluster.settle()


def test_cordoning_adds_a_taint_and_uncordoning_takes_it_away(cluster) -> None:
    cluster.boot("a")
    cluster.edit("nodes", "a", "", unschedulable=True, taints=[{"key": "mine", "effect": "NoSchedule"}])
    cluster.settle()
    assert taints(cluster) == [("mine", "NoSchedule"), ("node.kubernetes.io/unschedulable", "NoSchedule")]
    cluster.edit("nodes", "a", "", unschedulable=False)
    cluster.settle()
    assert taints(cluster) == [("mine", "NoSchedule")]


@pytest.mark.parametrize(
    ("kind", "status", "key", "effects"),
    [
        ("Ready", "False", "not-ready", ["NoSchedule", "NoExecute"]),
        ("Ready", "Unknown", "unreachable", ["NoSchedule", "NoExecute"]),
        ("DiskPressure", "True", "disk-pressure", ["NoSchedule"]),
        ("MemoryPressure", "True", "memory-pressure", ["NoSchedule"]),
        ("NetworkUnavailable", "True", "network-unavailable", ["NoSchedule"]),
    ],
)
def test_a_bad_condition_becomes_a_taint_until_it_is_good_again(cluster, kind, status, key, effects) -> None:
    cluster.boot("a")
    say(cluster, kind, status)
    assert taints(cluster) == [(f"node.kubernetes.io/{key}", "NoSchedule")]
    cluster.advance(5)
    assert taints(cluster) == [(f"node.kubernetes.io/{key}", effect) for effect in effects]
    say(cluster, kind, "True" if kind == "Ready" else "False")
    assert taints(cluster) == [(f"node.kubernetes.io/{key}", effect) for effect in effects if effect == "NoExecute"]
    cluster.advance(5)
    assert taints(cluster) == []


def test_nodes_are_looked_at_together_and_not_each_in_its_own_time(cluster) -> None:
    for name, second in (("a", 1), ("b", 2)):
        cluster.advance(1)
        cluster.boot(name, ready_after=7 - second)
    cluster.advance(3)
    assert [len(taints(cluster, name)) for name in "ab"] == [2, 2]
    cluster.advance(4)
    assert [taints(cluster, name) for name in "ab"] == [[("node.kubernetes.io/not-ready", "NoExecute")]] * 2
    cluster.advance(1)
    assert [taints(cluster, name) for name in "ab"] == [[], []]


def test_a_node_that_is_ready_takes_pods_before_the_last_taint_of_its_start_is_gone(cluster) -> None:
    cluster.pod("p")
    cluster.boot("a", ready_after=6)
    cluster.advance(6)
    assert taints(cluster) == [("node.kubernetes.io/not-ready", "NoExecute")]
    assert cluster.node_of("p") == "a"
    cluster.advance(60)
    assert cluster.node_of("p") == "a"


def test_without_a_period_all_taints_follow_at_once(cluster) -> None:
    cluster = type(cluster)(node_monitor_period=0)
    cluster.boot("a", ready_after=6)
    assert len(taints(cluster)) == 2
    cluster.advance(6)
    assert taints(cluster) == []


def test_a_node_without_conditions_is_left_as_it_is(cluster) -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    cluster.store.create("nodes", {"metadata": {"name": "a"}, "spec": {"taints": [taint]}})
    cluster.settle()
    assert taints(cluster) == [("node.kubernetes.io/not-ready", "NoSchedule")]


def tolerates(**fields):
    return {"tolerations": [{"key": "down", "operator": "Exists", **fields}]}


@pytest.mark.parametrize(
    ("spec", "gone_after"),
    [({}, 0), (tolerates(tolerationSeconds=30), 30), (tolerates(), None), (tolerates(effect="NoSchedule"), 0)],
)
def test_a_noexecute_taint_drives_away_pods_when_their_toleration_is_over(cluster, spec, gone_after) -> None:
    cluster.boot("a")
    cluster.pod("p", spec=spec)
    cluster.advance(5)
    cluster.edit("nodes", "a", "", taints=[{"key": "down", "effect": "NoExecute"}])
    for second in range(40):
        cluster.settle()
        leaving = cluster.store.find("pods", "p", "default")
        leaving = leaving is None or "deletionTimestamp" in leaving["metadata"]
        assert leaving == (gone_after is not None and second >= gone_after), f"after {second} seconds"
        cluster.advance(1)


def test_a_pod_stays_if_the_taint_goes_in_time(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p", spec=tolerates(tolerationSeconds=30))
    cluster.advance(5)
    cluster.edit("nodes", "a", "", taints=[{"key": "down", "effect": "NoExecute"}])
    cluster.advance(20)
    cluster.edit("nodes", "a", "", taints=[])
    cluster.advance(60)
    assert cluster.node_of("p") == "a"
    cluster.edit("nodes", "a", "", taints=[{"key": "down", "effect": "NoExecute"}])
    cluster.advance(29)
    assert "deletionTimestamp" not in cluster.get_pod("p")["metadata"], "the time starts anew"


def test_pods_leave_an_unreachable_node_after_five_minutes_and_come_back_elsewhere(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=1)
    cluster.advance(5)
    cluster.boot("b")
    cluster.kubelets.stop_reporting("a")
    cluster.advance(5 + 299)
    assert [pod["spec"]["nodeName"] for pod in cluster.pods("web")] == ["a"]
    cluster.advance(5)
    assert [pod["spec"]["nodeName"] for pod in cluster.pods("web")] == ["b"]


def test_deleting_a_node_object_frees_its_pods(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=2)
    cluster.advance(5)
    cluster.store.delete("nodes", "a")
    cluster.settle()
    assert [pod["spec"].get("nodeName", "") for pod in cluster.pods("web")] == ["", ""]


def test_a_pod_bound_to_a_node_that_never_was_is_deleted_after_a_while(cluster) -> None:
    cluster.pod("early", spec={"nodeName": "late"})
    cluster.pod("lost", spec={"nodeName": "nowhere"})
    cluster.advance(39)
    cluster.boot("late")
    cluster.advance(5)
    assert [pod["metadata"]["name"] for pod in cluster.pods()] == ["early"]


def test_deleting_a_namespace_deletes_what_is_in_it(cluster) -> None:
    cluster.boot("a")
    cluster.store.create("namespaces", {"metadata": {"name": "default"}})
    cluster.workload("Deployment", replicas=2)
    cluster.pod("elsewhere", namespace="other")
    cluster.store.create("configmaps", {"metadata": {"name": "c", "namespace": "default"}})
    cluster.advance(5)
    cluster.store.delete("namespaces", "default")
    cluster.advance(5)
    left = {
        resource: [item["metadata"]["name"] for item in cluster.store.list(resource)]
        for resource in ("pods", "replicasets.apps", "deployments.apps", "configmaps")
    }
    assert left == {"pods": ["elsewhere"], "replicasets.apps": [], "deployments.apps": [], "configmaps": []}


def test_what_has_another_owner_stays_when_one_goes(cluster) -> None:
    owners = []
    for name in ("one", "two"):
        owner = cluster.store.create("configmaps", {"metadata": {"name": name, "namespace": "default"}})
        owners.append({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"]})
    shared = {"name": "shared", "namespace": "default", "ownerReferences": owners}
    cluster.store.create("secrets", {"metadata": shared})
    cluster.store.delete("configmaps", "one", "default")
    cluster.settle()
    left = cluster.store.get("secrets", "shared", "default")["metadata"]["ownerReferences"]
    assert [owner["name"] for owner in left] == ["two"]
    cluster.store.delete("configmaps", "two", "default")
    cluster.settle()
    assert cluster.store.list("secrets") == []
