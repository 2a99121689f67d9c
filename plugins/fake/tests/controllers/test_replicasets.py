"""ReplicaSets keep their number, and give up the pods that are missed least."""

from nodewright_fake.controllers import build_controllers


def names(cluster):
    return {pod["metadata"]["name"] for pod in cluster.pods("web")}


def test_an_evicted_pod_comes_back_and_is_placed_elsewhere(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=2)
    cluster.advance(5)
    cluster.boot("b")
    before = names(cluster)
    cluster.edit("nodes", "a", "", unschedulable=True)
    cluster.store.delete("pods", min(before), "default")
    cluster.advance(5)
    assert len(names(cluster)) == 2
    (new,) = names(cluster) - before
    assert cluster.node_of(new) == "b"
    status = cluster.store.get("replicasets.apps", "web", "default")["status"]
    assert status == {
        "replicas": 2,
        "fullyLabeledReplicas": 2,
        "readyReplicas": 2,
        "availableReplicas": 2,
        "observedGeneration": 1,
    }


def test_its_pods_say_whose_they_are(cluster) -> None:
    found = cluster.workload("ReplicaSet", replicas=1)
    cluster.settle()
    (pod,) = cluster.pods("web")
    (owner,) = pod["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("ReplicaSet", "web", found["metadata"]["uid"])
    assert owner["controller"]
    assert pod["metadata"]["name"].startswith("web-")


def test_a_failed_pod_is_replaced(cluster) -> None:
    cluster.boot("a")
    template = {"annotations": {"fake.nodewright.dev/run-seconds": "5", "fake.nodewright.dev/exit-code": "1"}}
    cluster.workload("ReplicaSet", replicas=1, template=template)
    cluster.advance(6)
    phases = sorted(pod["status"]["phase"] for pod in cluster.pods("web"))
    assert phases == ["Failed", "Pending"]


def test_the_pods_of_a_lost_node_come_back(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=3)
    cluster.advance(5)
    cluster.boot("b")
    cluster.kubelets.shut_down("a")
    cluster.advance(5)
    assert {pod["spec"]["nodeName"] for pod in cluster.pods("web")} == {"b"}
    assert len(cluster.pods("web")) == 3


def scaled_down(cluster, replicas):
    before = names(cluster)
    cluster.edit("replicasets.apps", "web", replicas=replicas)
    cluster.settle()
    return before - names(cluster)


def test_pods_without_a_node_go_first(cluster) -> None:
    cluster.boot("a", capacity={"cpu": 4000, "memory": 1024**3, "pods": 2})
    cluster.workload("ReplicaSet", replicas=3)
    cluster.advance(5)
    (waiting,) = (pod["metadata"]["name"] for pod in cluster.pods("web") if "nodeName" not in pod["spec"])
    assert scaled_down(cluster, 2) == {waiting}


def test_a_pod_without_a_node_goes_before_a_younger_one_that_is_about_to_start(cluster) -> None:
    cluster.workload("ReplicaSet", replicas=1, template={"nodeSelector": {"no": "where"}})
    cluster.settle()
    waiting = names(cluster)
    cluster.boot("a")
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main"}]}}
    cluster.edit("replicasets.apps", "web", replicas=2, template=template)
    cluster.settle()
    assert scaled_down(cluster, 1) == waiting


def test_pods_of_a_silent_node_go_before_those_that_serve(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=1)
    cluster.advance(5)
    silent = names(cluster)
    cluster.boot("b")
    cluster.edit("replicasets.apps", "web", replicas=2)
    cluster.advance(5)
    cluster.kubelets.stop_reporting("a")
    assert scaled_down(cluster, 1) == silent


def test_a_pod_that_is_released_is_replaced(cluster) -> None:
    cluster.workload("ReplicaSet", replicas=1)
    cluster.settle()
    (name,) = names(cluster)
    cluster.store.modify("pods", name, "default", lambda pod: pod["metadata"].update(ownerReferences=[]))
    cluster.edit("replicasets.apps", "web", replicas=2)
    cluster.settle()
    assert len(names(cluster)) == 3


def test_pods_that_do_not_serve_yet_go_before_those_that_do(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=2)
    cluster.advance(5)
    serving = names(cluster)
    cluster.edit("replicasets.apps", "web", replicas=3)
    cluster.settle()
    assert scaled_down(cluster, 2) == names_of_new(cluster, serving)


def names_of_new(cluster, serving):
    every = {pod["metadata"]["name"] for pod in cluster.store.list("pods")}
    return every - serving


def test_pods_of_lower_deletion_cost_go_first(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=3)
    cluster.advance(5)
    cheap = sorted(names(cluster))[1]
    cost = {"controller.kubernetes.io/pod-deletion-cost": "-5"}
    cluster.store.modify("pods", cheap, "default", lambda pod: pod["metadata"].update(annotations=cost))
    assert scaled_down(cluster, 2) == {cheap}


def test_pods_on_the_node_with_most_of_them_go_before_others_and_the_youngest_before_the_older(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=2)
    cluster.advance(5)
    older = names(cluster)
    cluster.edit("replicasets.apps", "web", replicas=3)
    cluster.advance(5)
    (youngest,) = names(cluster) - older
    cluster.boot("b")
    cluster.edit("nodes", "a", "", unschedulable=True)
    cluster.edit("replicasets.apps", "web", replicas=4)
    cluster.advance(5)
    assert scaled_down(cluster, 3) == {youngest}


def test_a_replication_controller_works_the_same(cluster) -> None:
    template = {"metadata": {"labels": {"app": "old"}}, "spec": {"containers": [{"name": "main"}]}}
    metadata = {"name": "old", "namespace": "default"}
    cluster.store.create(
        "replicationcontrollers", {"metadata": metadata, "spec": {"replicas": 2, "template": template}}
    )
    cluster.settle()
    owners = [pod["metadata"]["ownerReferences"][0]["kind"] for pod in cluster.pods("old")]
    assert owners == ["ReplicationController"] * 2


def test_deleting_a_replicaset_deletes_its_pods(cluster) -> None:
    cluster.boot("a")
    cluster.workload("ReplicaSet", replicas=3)
    cluster.advance(5)
    cluster.store.delete("replicasets.apps", "web", "default")
    cluster.advance(5)
    assert cluster.store.list("pods") == []


def test_what_was_there_before_the_controllers_is_looked_at_too(cluster) -> None:
    cluster.workload("ReplicaSet", replicas=1)
    for controller in build_controllers(cluster.store, cluster.agenda).all:
        controller.reconcile()
    assert len(cluster.pods("web")) == 1
