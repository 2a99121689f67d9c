"""Kubelets register nodes and run pods."""

import pytest
from nodewright.api import Taint


def test_a_machine_becomes_a_node_with_the_well_known_labels(cluster) -> None:
    cluster.boot("a", zone="eu-west-1b", instance_type="m5.large", labels={"team": "x"})
    node = cluster.store.get("nodes", "a")
    assert node["metadata"]["labels"] == {
        "kubernetes.io/hostname": "a",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": "m5.large",
        "topology.kubernetes.io/zone": "eu-west-1b",
        "topology.kubernetes.io/region": "eu-west-1",
        "team": "x",
    }
    assert node["spec"]["providerID"] == "fake://eu-a/a"
    assert node["status"]["allocatable"] == {"cpu": "4", "memory": "16Gi", "pods": "110"}


def test_a_node_is_tainted_until_it_is_ready(cluster) -> None:
    taint = Taint(key="dedicated", value="db", effect="NoExecute")
    cluster.boot("a", ready_after=10, taints=(taint,))
    keys = [(taint["key"], taint["effect"]) for taint in cluster.store.get("nodes", "a")["spec"]["taints"]]
    assert ("node.kubernetes.io/not-ready", "NoSchedule") in keys
    assert cluster.condition("nodes", "a", "Ready", "")["status"] == "False"

    cluster.advance(15)
    assert cluster.condition("nodes", "a", "Ready", "")["status"] == "True"
    taints = cluster.store.get("nodes", "a")["spec"]["taints"]
    assert taints == [{"key": "dedicated", "value": "db", "effect": "NoExecute"}]


def test_a_machine_without_a_time_never_becomes_ready(cluster) -> None:
    cluster.boot("a", ready_after=None)
    cluster.advance(3600)
    assert cluster.condition("nodes", "a", "Ready", "")["status"] == "False"


def test_a_bound_pod_runs_after_a_second(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p")
    cluster.settle()
    assert cluster.get_pod("p")["status"]["phase"] == "Pending"

    cluster.advance(1)
    status = cluster.get_pod("p")["status"]
    assert status["phase"] == "Running"
    assert {condition["type"]: condition["status"] for condition in status["conditions"]} == dict.fromkeys(
        ("PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"), "True"
    )
    assert status["startTime"] == "2030-01-01T00:00:01Z"
    assert status["podIP"] != status["hostIP"]
    assert status["containerStatuses"][0]["ready"]


@pytest.mark.parametrize(("grace", "stop", "expected"), [(30, None, 1), (30, "20", 20), (5, "20", 5)])
def test_a_deleted_pod_stops_within_its_grace_period(cluster, grace, stop, expected) -> None:
    cluster.boot("a")
    annotations = {"fake.nodewright.dev/stop-seconds": stop} if stop else {}
    cluster.pod("p", spec={"terminationGracePeriodSeconds": grace}, annotations=annotations)
    cluster.advance(5)
    cluster.store.delete("pods", "p", "default")
    cluster.advance(expected - 0.5)
    assert cluster.store.find("pods", "p", "default") is not None
    cluster.advance(0.5)
    assert cluster.store.find("pods", "p", "default") is None


def test_a_pod_ends_by_itself_when_its_annotation_says_so(cluster) -> None:
    cluster.boot("a")
    cluster.pod("good", annotations={"fake.nodewright.dev/run-seconds": "30"})
    cluster.pod("bad", annotations={"fake.nodewright.dev/run-seconds": "30", "fake.nodewright.dev/exit-code": "2"})
    cluster.advance(30)
    assert cluster.get_pod("good")["status"]["phase"] == "Running"
    cluster.advance(1)
    assert cluster.get_pod("good")["status"]["phase"] == "Succeeded"
    assert cluster.get_pod("bad")["status"]["phase"] == "Failed"
    assert cluster.get_pod("bad")["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 2


def test_a_machine_that_is_shut_down_takes_node_and_pods_with_it(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p")
    cluster.advance(5)
    cluster.kubelets.shut_down("a")
    cluster.settle()
    assert cluster.store.list("nodes") == []
    assert cluster.store.list("pods") == []


def test_a_machine_that_is_gone_before_it_is_ready_stays_gone(cluster) -> None:
    cluster.boot("a", ready_after=10)
    cluster.kubelets.shut_down("a")
    cluster.boot("a", ready_after=60)
    cluster.advance(30)
    assert cluster.condition("nodes", "a", "Ready", "")["status"] == "False"


def test_a_silent_kubelet_makes_its_node_unreachable_and_stops_no_pods(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p")
    cluster.advance(5)
    cluster.kubelets.stop_reporting("a")
    cluster.advance(5)
    ready = cluster.condition("nodes", "a", "Ready", "")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    taints = [(taint["key"], taint["effect"]) for taint in cluster.store.get("nodes", "a")["spec"]["taints"]]
    assert taints == [
        ("node.kubernetes.io/unreachable", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
    ]
    assert cluster.condition("pods", "p", "Ready")["status"] == "False"

    cluster.store.delete("pods", "p", "default")
    cluster.advance(60)
    assert "deletionTimestamp" in cluster.get_pod("p")["metadata"]


def test_a_kubelet_that_reports_again_does_what_it_missed(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p")
    cluster.pod("q")
    cluster.advance(5)
    cluster.kubelets.stop_reporting("a")
    cluster.store.delete("pods", "p", "default")
    cluster.advance(60)
    cluster.kubelets.resume_reporting("a")
    cluster.advance(5)
    assert cluster.condition("nodes", "a", "Ready", "")["status"] == "True"
    assert cluster.store.get("nodes", "a")["spec"]["taints"] == []
    assert cluster.store.find("pods", "p", "default") is None
    assert cluster.condition("pods", "q", "Ready")["status"] == "True"


def test_a_pod_with_a_finalizer_is_stopped_once_and_then_left_alone(cluster) -> None:
    cluster.boot("a")
    cluster.pod("p")
    cluster.advance(5)
    cluster.store.modify("pods", "p", "default", lambda pod: pod["metadata"].update(finalizers=["example.com/hold"]))
    cluster.store.delete("pods", "p", "default")
    cluster.advance(10)
    version = cluster.store.version
    cluster.advance(10)
    assert cluster.store.version == version
    cluster.store.modify("pods", "p", "default", lambda pod: pod["metadata"].update(finalizers=[]))
    assert cluster.store.list("pods") == []
