"""DaemonSets run one pod on every suitable node."""

import pytest
from nodewright.api import Taint


def where(cluster):
    return sorted(cluster.node_of(pod["metadata"]["name"]) for pod in cluster.pods("web"))


def status(cluster):
    found = cluster.store.get("daemonsets.apps", "web", "default")["status"]
    return tuple(
        found[name]
        for name in ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberMisscheduled")
    )


def test_every_node_gets_one_also_those_that_come_later(cluster) -> None:
    cluster.boot("a")
    cluster.workload("DaemonSet")
    cluster.advance(5)
    cluster.boot("b")
    cluster.advance(5)
    assert where(cluster) == ["a", "b"]
    assert status(cluster) == (2, 2, 2, 0)


def test_a_pod_is_made_for_its_node_and_waits_if_it_is_full(cluster) -> None:
    cluster.boot("a")
    cluster.boot("b")
    cluster.pod("big", cpu="4", spec={"nodeSelector": {"kubernetes.io/hostname": "a"}})
    cluster.settle()
    daemon = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    cluster.workload("DaemonSet", template=daemon)
    cluster.advance(5)
    assert where(cluster) == ["", "b"]
    (waiting,) = (pod["metadata"]["name"] for pod in cluster.pods("web") if "nodeName" not in pod["spec"])
    assert cluster.why(waiting) == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector."
    )
    assert status(cluster) == (2, 2, 1, 0)


def test_a_selector_narrows_the_nodes_and_a_changed_label_counts(cluster) -> None:
    cluster.boot("a", labels={"disk": "ssd"})
    cluster.boot("b")
    cluster.workload("DaemonSet", template={"nodeSelector": {"disk": "ssd"}})
    cluster.advance(5)
    assert where(cluster) == ["a"]
    cluster.store.modify("nodes", "b", "", lambda node: node["metadata"]["labels"].update(disk="ssd"))
    cluster.store.modify("nodes", "a", "", lambda node: node["metadata"]["labels"].update(disk="hdd"))
    cluster.advance(5)
    assert where(cluster) == ["b"]


@pytest.mark.parametrize(("effect", "stays"), [("NoSchedule", True), ("NoExecute", False)])
def test_a_taint_keeps_new_pods_off_and_only_noexecute_drives_old_ones_away(cluster, effect, stays) -> None:
    cluster.boot("a")
    cluster.workload("DaemonSet")
    cluster.advance(5)
    cluster.edit("nodes", "a", "", taints=[{"key": "mine", "effect": effect}])
    cluster.boot("b", taints=(Taint(key="mine", effect=effect),))
    cluster.advance(5)
    assert where(cluster) == (["a"] if stays else [])
    assert status(cluster) == ((0, 0, 0, 1) if stays else (0, 0, 0, 0))


def test_a_cordoned_node_keeps_its_daemons_and_gets_new_ones(cluster) -> None:
    cluster.boot("a")
    cluster.edit("nodes", "a", "", unschedulable=True)
    cluster.workload("DaemonSet")
    cluster.advance(5)
    assert where(cluster) == ["a"]


def test_a_node_that_is_not_ready_gets_its_daemon_only_if_the_pod_tolerates_that(cluster) -> None:
    cluster.boot("a", ready_after=60)
    cluster.workload("DaemonSet", "web")
    cluster.workload("DaemonSet", "cni", template={"tolerations": [{"operator": "Exists"}]})
    cluster.advance(5)
    assert (len(cluster.pods("web")), len(cluster.pods("cni"))) == (0, 1)
    cluster.advance(60)
    assert where(cluster) == ["a"]


def test_a_deleted_daemon_comes_back_on_the_same_node(cluster) -> None:
    cluster.boot("a")
    cluster.workload("DaemonSet")
    cluster.advance(5)
    (old,) = cluster.pods("web")
    cluster.store.delete("pods", old["metadata"]["name"], "default")
    cluster.advance(5)
    (new,) = cluster.pods("web")
    assert new["metadata"]["name"] != old["metadata"]["name"]
    assert where(cluster) == ["a"]


def test_the_daemons_of_a_lost_node_are_not_missed(cluster) -> None:
    cluster.boot("a")
    cluster.boot("b")
    cluster.workload("DaemonSet")
    cluster.advance(5)
    cluster.kubelets.shut_down("b")
    cluster.advance(5)
    assert where(cluster) == ["a"]
    assert status(cluster) == (1, 1, 1, 0)


def test_an_update_replaces_one_daemon_at_a_time(cluster) -> None:
    for name in ("a", "b", "c"):
        cluster.boot(name)
    cluster.workload("DaemonSet")
    cluster.advance(5)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "new"}]}}
    cluster.edit("daemonsets.apps", "web", template=template)
    for _ in range(60):
        cluster.advance(0.5)
        ready = [pod for pod in cluster.pods("web") if pod["status"]["phase"] == "Running"]
        assert len(ready) >= 2
        if [pod["spec"]["containers"][0]["image"] for pod in ready] == ["new"] * 3:
            break
    assert status(cluster) == (3, 3, 3, 0)
    assert cluster.store.get("daemonsets.apps", "web", "default")["status"]["updatedNumberScheduled"] == 3


def test_ondelete_replaces_nothing_by_itself(cluster) -> None:
    cluster.boot("a")
    cluster.workload("DaemonSet", updateStrategy={"type": "OnDelete"})
    cluster.advance(5)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "new"}]}}
    cluster.edit("daemonsets.apps", "web", template=template)
    cluster.advance(30)
    (pod,) = cluster.pods("web")
    assert pod["spec"]["containers"][0]["image"] == "app"


def test_a_new_node_costs_the_same_however_many_there_are(cluster) -> None:
    for _ in range(20):
        cluster.boot()
    cluster.workload("DaemonSet")
    cluster.advance(5)
    version = cluster.store.version
    cluster.boot()
    cluster.advance(5)
    assert cluster.store.version - version < 15
