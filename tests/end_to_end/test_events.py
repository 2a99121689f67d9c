"""Every event that Cluster Autoscaler's users know is told, with its object and text, when that happens."""

import pytest
from nodewright.api import ErrorClass, InstanceError
from nodewright_fake.apiserver.faults import Fault
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.boot_fault import BootFault, BootFaultKind
from nodewright_fake.cloud.shortage import ShortageMode

from tests.end_to_end.scenarios import a_group, a_scenario

FAST = "scaleDown: {enabled: false}\nhealth: {maxNodeProvisionTime: 3m}"
AT_ONCE = "scaleDown: {unneededTime: 30s, delayAfterAdd: 30s}"
BROKEN = InstanceError(error_class=ErrorClass.QUOTA, code="QUOTA_EXCEEDED", message="57 in use")


@pytest.fixture
def one(begin):
    """Begins a life with one group."""

    def start(settings=FAST, replicas=4, **group):
        return begin(a_scenario(a_group("pool", **group), replicas=replicas), settings)

    return start


def told(life, reason, kind="ConfigMap"):
    """What was told for a reason about objects of a kind: type and message, oldest first."""
    events = life.world.store.list("events", "kube-system" if kind == "ConfigMap" else "default")
    events.sort(key=lambda event: int(event["metadata"]["resourceVersion"]))
    return [
        (event["type"], event["message"])
        for event in events
        if (event["reason"], event["involvedObject"]["kind"]) == (reason, kind)
        and event["source"]["component"] == "cluster-autoscaler"
    ]


def test_an_order_that_is_never_met(one) -> None:
    life = one()
    life.run_out("eu-a/*", ShortageMode.WAIT)
    life.until(lambda: told(life, "ScaleUpTimedOut"))
    assert told(life, "ScaleUpTimedOut") == [("Warning", "Nodes added to group pool failed to register within 3m10s")]
    assert told(life, "FailedToRevertScaleUp") == []


def test_an_order_that_is_never_met_and_can_not_be_taken_back(one) -> None:
    life = one()
    life.run_out("eu-a/*", ShortageMode.WAIT)
    life.world.cloud.gate.add(ApiFault(ApiFaultKind.DENIED, operations="decrease-target"))
    life.until(lambda: told(life, "FailedToRevertScaleUp"))
    ((kind, message),) = told(life, "FailedToRevertScaleUp")
    assert (kind, message.partition(": ")[0]) == (
        "Warning",
        "Failed to decrease target size for group pool after scale-up timeout",
    )
    assert "lacks the right" in message


def test_machines_that_could_not_be_made(one) -> None:
    life = one(replicas=8)
    life.world.cloud.boot_faults.add(BootFault(groups="pool", kind=BootFaultKind.FAILS, error=BROKEN))
    life.until(lambda: told(life, "ScaleUpFailed"))
    assert told(life, "ScaleUpFailed")[0] == (
        "Warning",
        "Failed adding 2 nodes to group pool due to OutOfResources.QUOTA_EXCEEDED; source errors: 57 in use",
    )


def test_machines_that_never_registered(one) -> None:
    life = one()
    life.world.cloud.boot_faults.add(BootFault(groups="pool", kind=BootFaultKind.NEVER_REGISTERS, error=BROKEN))
    refused = ApiFault(ApiFaultKind.INTERNAL, operations="delete-instances", times=1)
    life.world.cloud.gate.add(refused)
    life.until(lambda: told(life, "DeleteUnregistered"))
    ((kind, message),) = told(life, "DeleteUnregistered")
    assert (kind, message.startswith("Removed unregistered node fake://")) == ("Normal", True)
    assert [kind for kind, _ in told(life, "ScaleUpTimedOut")] == ["Warning"]
    ((kind, failed),) = told(life, "DeleteUnregisteredFailed")
    assert (kind, failed.startswith("Failed to remove node fake://")) == ("Warning", True)


def test_a_limit_on_nodes_that_is_reached(begin) -> None:
    life = begin(a_scenario(a_group("pool"), replicas=12), FAST, most_nodes=1)
    life.until(lambda: life.nodes)
    life.go_on(20)
    assert told(life, "MaxNodesTotalReached") == [("Warning", "Max total nodes in cluster reached: 1")]
    assert ("Normal", "pod didn't trigger scale-up: max total nodes in cluster reached") in told(
        life, "NotTriggerScaleUp", "Pod"
    )


def test_a_cluster_that_is_unhealthy_for_as_long_as_it_is(one) -> None:
    life = one("health: {okTotalUnreadyCount: 0, maxNodeStartupTime: 1m}")
    life.world.cloud.boot_faults.add(BootFault(groups="*", kind=BootFaultKind.UNREADY, error=BROKEN))
    life.until(lambda: told(life, "ClusterUnhealthy"))
    life.go_on(700)
    ((kind, message),) = told(life, "ClusterUnhealthy")
    assert (kind, message.partition(":")[0]) == ("Warning", "Cluster is unhealthy")
    (event,) = [each for each in life.world.store.list("events", "kube-system") if each["reason"] == "ClusterUnhealthy"]
    assert event["count"] > 30


def test_an_empty_cluster_that_may_not_grow(one) -> None:
    life = one("scaleUp: {fromZero: false}")
    life.go_on(20)
    assert told(life, "ClusterUnhealthy") == [("Warning", "Cluster has no nodes.")]


def test_an_empty_node_that_goes(one) -> None:
    life = one(AT_ONCE, replicas=0, min=0, desired=1)
    life.until(lambda: life.nodes)
    life.until(lambda: not life.nodes)
    assert told(life, "ScaleDownEmpty") == [
        ("Normal", 'Scale-down: removing empty node "pool-1"'),
        ("Normal", "Scale-down: empty node pool-1 removed"),
    ]
    assert told(life, "ScaleDown", "Node") == [("Normal", "marked the node as toBeDeleted/unschedulable")]


def test_a_node_that_can_not_be_marked(one) -> None:
    life = one(AT_ONCE, replicas=0, min=0, desired=1)
    life.world.api_server.faults.append(
        Fault(status=422, message="no", when=lambda request: request.verb == "patch" and "/nodes/" in request.path)
    )
    life.until(lambda: told(life, "ScaleDownFailed", "Node"))
    ((kind, message),) = told(life, "ScaleDownFailed", "Node")
    assert kind == "Warning"
    assert message.startswith("failed to mark the node as toBeDeleted/unschedulable: ")


def test_a_mark_that_an_earlier_life_has_left(one) -> None:
    life = one(replicas=0, min=1, desired=1)
    life.until(lambda: life.nodes)
    taint = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1", "effect": "NoSchedule"}
    life.world.store.modify("nodes", "pool-1", "", lambda node: node["spec"].setdefault("taints", []).append(taint))
    life.go_on(20)
    assert told(life, "ClusterAutoscalerCleanup", "Node") == [
        ("Normal", "removed ToBeDeletedByClusterAutoscaler taint from node pool-1")
    ]
    assert life.marked == []


def test_no_burst_of_pods_is_a_burst_of_events_and_each_pod_has_its_own_in_the_end(one) -> None:
    life = one("loop: {frequent: false}", replicas=600, max=1)
    life.go_on(10)
    first = len(told(life, "TriggeredScaleUp", "Pod") + told(life, "NotTriggerScaleUp", "Pod"))
    assert 0 < first <= 20
    life.go_on(300, every=2)
    events = life.world.store.list("events", "default")
    about = {
        event["involvedObject"]["name"] for event in events if event["source"]["component"] == "cluster-autoscaler"
    }
    waiting = {pod["metadata"]["name"] for pod in life.pods("Pending")}
    assert len(waiting) > 590
    assert waiting <= about
