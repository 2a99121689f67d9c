"""StatefulSets keep the names of their pods, and their order."""

V2 = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "app:2"}]}}


def names(cluster):
    return [pod["metadata"]["name"] for pod in cluster.pods("web")]


def status(cluster, *fields):
    found = cluster.store.get("statefulsets.apps", "web", "default")["status"]
    return tuple(found[name] for name in fields)


def test_pods_start_in_order_each_when_the_one_before_is_ready(cluster) -> None:
    cluster.boot("a")
    cluster.workload("StatefulSet", replicas=3)
    cluster.settle()
    assert names(cluster) == ["web-0"]
    cluster.advance(1)
    assert names(cluster) == ["web-0", "web-1"]
    cluster.advance(2)
    assert names(cluster) == ["web-0", "web-1", "web-2"]
    assert status(cluster, "replicas", "readyReplicas", "updatedReplicas") == (3, 3, 3)


def test_parallel_pods_start_at_once(cluster) -> None:
    cluster.workload("StatefulSet", replicas=3, podManagementPolicy="Parallel", ordinals={"start": 5})
    cluster.settle()
    assert names(cluster) == ["web-5", "web-6", "web-7"]


def test_a_pod_carries_its_name_and_index(cluster) -> None:
    cluster.workload("StatefulSet", replicas=1)
    cluster.settle()
    labels = cluster.get_pod("web-0")["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-0"
    assert labels["apps.kubernetes.io/pod-index"] == "0"
    assert cluster.get_pod("web-0")["spec"]["hostname"] == "web-0"


def test_an_evicted_pod_comes_back_under_its_name_when_the_old_one_is_gone(cluster) -> None:
    cluster.boot("a")
    cluster.workload("StatefulSet", replicas=2)
    cluster.advance(5)
    old = cluster.get_pod("web-0")["metadata"]["uid"]
    cluster.store.delete("pods", "web-0", "default")
    cluster.settle()
    assert cluster.get_pod("web-0")["metadata"]["uid"] == old
    cluster.advance(3)
    assert cluster.get_pod("web-0")["metadata"]["uid"] != old
    assert status(cluster, "readyReplicas") == (2,)


def test_pods_stop_from_the_highest_one_after_the_other(cluster) -> None:
    cluster.boot("a")
    cluster.workload("StatefulSet", replicas=3)
    cluster.advance(5)
    cluster.edit("statefulsets.apps", "web", replicas=1)
    cluster.settle()
    assert names(cluster) == ["web-0", "web-1"]
    cluster.advance(3)
    assert names(cluster) == ["web-0"]


def test_a_pod_that_is_not_ready_holds_up_those_after_it(cluster) -> None:
    cluster.boot("a", capacity={"cpu": 4000, "memory": 1024**3, "pods": 1})
    cluster.workload("StatefulSet", replicas=3)
    cluster.advance(30)
    assert names(cluster) == ["web-0", "web-1"]
    assert cluster.node_of("web-1") == ""


def test_an_update_goes_from_the_highest_to_the_partition(cluster) -> None:
    cluster.boot("a")
    update = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    cluster.workload("StatefulSet", replicas=3, updateStrategy=update)
    cluster.advance(5)
    (before,) = status(cluster, "currentRevision")
    cluster.edit("statefulsets.apps", "web", template=V2)
    cluster.settle()
    assert names(cluster) == ["web-0", "web-1"], "the highest goes first"
    cluster.advance(30)
    images = [pod["spec"]["containers"][0]["image"] for pod in cluster.pods("web")]
    assert images == ["app", "app:2", "app:2"]
    assert status(cluster, "currentRevision", "updatedReplicas", "currentReplicas") == (before, 2, 1)
    cluster.edit("statefulsets.apps", "web", updateStrategy={"type": "RollingUpdate"})
    cluster.advance(30)
    assert status(cluster, "updatedReplicas", "currentReplicas") == (3, 3)
    assert status(cluster, "currentRevision") == status(cluster, "updateRevision") != (before,)


def test_an_update_replaces_one_pod_at_a_time_even_if_they_start_together(cluster) -> None:
    cluster.boot("a")
    cluster.workload("StatefulSet", replicas=3, podManagementPolicy="Parallel")
    cluster.advance(5)
    cluster.edit("statefulsets.apps", "web", template=V2)
    for _ in range(20):
        cluster.advance(0.5)
        assert status(cluster, "readyReplicas") >= (2,)
    assert status(cluster, "updatedReplicas", "readyReplicas") == (3, 3)


def test_ondelete_updates_only_what_somebody_deletes(cluster) -> None:
    cluster.boot("a")
    cluster.workload("StatefulSet", replicas=2, updateStrategy={"type": "OnDelete"})
    cluster.advance(5)
    cluster.edit("statefulsets.apps", "web", template=V2)
    cluster.store.delete("pods", "web-0", "default")
    cluster.advance(30)
    assert [pod["spec"]["containers"][0]["image"] for pod in cluster.pods("web")] == ["app:2", "app"]


def test_a_name_that_is_taken_is_reported_and_stops_nobody_else(cluster, caplog) -> None:
    cluster.pod("web-0")
    cluster.workload("StatefulSet", replicas=1)
    cluster.workload("StatefulSet", "other", replicas=1)
    cluster.settle()
    assert "StatefulSets cannot reconcile ('default', 'web'): pods \"web-0\" already exists" in caplog.text
    assert len(cluster.pods("other")) == 1
