"""What is said about pending pods."""

from datetime import timedelta

import pytest
from msgspec.structs import replace
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, Removal, RemovalMemory
from nodewright.explain.explanation import explain_pod
from nodewright.explain.look import Look
from nodewright.objects import Condition
from nodewright.scenario.answer import answer
from nodewright.scenario.rehearsal import Rehearsed
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

POD = a_pod()
REMOVAL = Memory(
    leaving=RemovalMemory(removals={"n": Removal(group="a", provider_id="fake://a-0", started=EPOCH, drains=True)})
)


def look_at(*pods, memory=None, **scale_up):
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [a_node("n", provider_id="fake://a-0")]}, pods=pods)
    policy = a_policy(Settings.model_validate({"scaleUp": scale_up}))
    decision, remembered, findings = decide(world, memory or Memory(), policy, EPOCH, in_depth=True)
    return Look(world=world, decision=decision, memory=remembered, findings=findings)


def answered(look):
    return answer(Rehearsed(look=look, options=(), seconds=0), Settings())


def with_status(**status):
    return replace(POD, status=replace(POD.status, **status))


def test_pods_that_have_just_come_are_a_cooldown_of_the_scale_up() -> None:
    found = answered(look_at(a_pod("web", cpu="9", created=EPOCH - timedelta(seconds=0.5))))
    assert found["scaleUpResult"] == "ScaleUpInCooldown"
    assert found["unschedulableToHelp"] == ["default/web"]
    assert found["podsRemainUnschedulable"] == []
    assert "consideredNodeGroups" not in found


def test_pods_that_return_are_named_as_such() -> None:
    found = answered(look_at(a_pod("leaves", node="n"), a_pod("waits"), memory=REMOVAL))
    assert found["podsFromDrainedNodes"] == ["default/leaves"]
    assert found["unschedulableToHelp"] == ["default/leaves", "default/waits"]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (with_status(nominated_node_name="n"), "is about to get its place on node n"),
        (
            replace(POD, spec=replace(POD.spec, scheduler_name="batch")),
            "waits for batch, which is not among scaleUp.allowedSchedulers",
        ),
        (
            replace(POD, metadata=replace(POD.metadata, deletion_timestamp=EPOCH)),
            "has come to its end: nothing is done for it",
        ),
        (with_status(phase="Succeeded"), "has come to its end: nothing is done for it"),
        (
            with_status(conditions=(Condition(type="PodScheduled", status="False", reason="SchedulingGated"),)),
            "waits, but the scheduler has not said that no node fits: nothing is done for it",
        ),
    ],
)
def test_a_pod_that_does_not_count_has_a_reason(pod, expected) -> None:
    assert explain_pod(look_at(pod, allowedSchedulers=["default-scheduler"]), "default/web") == [
        f"pod default/web {expected}"
    ]


def test_a_pod_that_has_to_leave_has_a_place_to_go() -> None:
    first, *_ = explain_pod(look_at(a_pod(node="n"), memory=REMOVAL), "default/web")
    assert first == "pod default/web, which has to leave node n: a group grows for it (a)"
