"""What is told about pods that look for no node."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.api import Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.explain.documents import pod_document
from nodewright.explain.explanation import UnknownError, explain_pod
from nodewright.explain.look import Look
from nodewright.objects import OwnerReference
from nodewright.objects.meta import Condition
from nodewright.testing import EPOCH
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_policy, a_world

STARTED = EPOCH - timedelta(hours=1)


def look_at(*pods):
    nodes = [a_node("n0", provider_id="fake://a-0"), a_node("n1", provider_id="fake://a-1")]
    world = a_world(groups=[a_group("a", size=2)], nodes={"a": nodes}, pods=pods)
    decision, memory, findings = decide(world, Memory(), a_policy(), EPOCH, in_depth=True)
    return Look(world=world, decision=decision, memory=memory, findings=findings)


def owned(pod, kind, name):
    owners = (OwnerReference(kind=kind, name=name, controller=True),)
    return replace(pod, metadata=replace(pod.metadata, owner_references=owners))


def ended(pod, phase):
    over = Condition(type="Ready", status="False", reason="PodCompleted", last_transition_time=EPOCH)
    return replace(pod, status=replace(pod.status, phase=phase, start_time=STARTED, conditions=(over,)))


def test_a_pod_that_runs_is_told_with_its_node_and_since_when() -> None:
    pod = a_pod("web", node="n0", cpu="3")
    seen = replace(pod, status=replace(pod.status, start_time=STARTED))
    assert explain_pod(look_at(pod), "default/web", seen) == [
        "pod default/web runs on node n0 of group a since 2029-12-31 23:00:00",
        "  its node stays: its utilization is above the threshold (75% of 50%) [NotUnderutilized]",
    ]


def test_a_pod_that_keeps_its_node_is_told_so() -> None:
    lines = explain_pod(look_at(a_pod("alone", node="n1", owner="")), "default/alone")
    assert lines[1:] == [
        "  its node stays: a pod must not be moved (default/alone: NotReplicated) [BlockedByPod]",
        "  it is what keeps its node: no controller of a known kind would recreate it",
    ]


@pytest.mark.parametrize(
    ("kind", "whose"), [("DaemonSet", "it is of DaemonSet agent"), ("Node", "it is a static pod of its kubelet")]
)
def test_a_pod_that_comes_with_its_node_is_told_so(kind, whose) -> None:
    lines = explain_pod(look_at(owned(a_pod("agent", node="n1"), kind, "agent")), "default/agent")
    assert lines[1] == f"  {whose}: it comes with its node, brings no other and keeps none"


def test_a_waiting_pod_of_a_daemon_set_is_told_without_groups() -> None:
    look = look_at(owned(a_pod("agent", cpu="9"), "DaemonSet", "agent"))
    assert explain_pod(look, "default/agent") == [f"pod default/agent: {Reason.DAEMON.text}"]


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_is_done_is_told_with_how_and_where_it_ended(phase) -> None:
    seen = ended(a_pod("job", node="n0"), phase)
    assert explain_pod(look_at(), "default/job", seen) == [
        f"pod default/job has come to its end on node n0 at 2030-01-01 00:00:00 ({phase}): nothing is done for it",
        "  it ran since 2029-12-31 23:00:00",
    ]
    assert pod_document(look_at(), "default/job", seen)["state"] == "done"


def test_for_a_pod_that_is_gone_others_of_its_controller_are_suggested() -> None:
    names = ("web-7d9f4c-xk2p9", "web-b5c8d6-m4q7t", "db-0")
    look = look_at(*(a_pod(name, node="n0", cpu="100m") for name in names))
    with pytest.raises(UnknownError) as raised:
        explain_pod(look, "default/web-000000-zzzzzzzzzzzzzz")
    assert str(raised.value).endswith("did you mean default/web-7d9f4c-xk2p9 or default/web-b5c8d6-m4q7t?")
