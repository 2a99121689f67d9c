"""What decisions make of clouds that ask for fewer calls."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Instance, InstanceState, Outcome, Reason
from nodewright.api.decision import Decision, Grow
from nodewright.api.verdict import Verdict
from nodewright.config.model import Settings
from nodewright.decision.decide import decide, decide_growth
from nodewright.decision.execution import Execution, to_be_kept
from nodewright.decision.memory import HealthMemory, Memory, OrderMemory, Removal, RemovalMemory, ScaleUpRequest
from nodewright.explain.conditions import note_conditions
from nodewright.explain.explanation import explain_group
from nodewright.explain.look import Look
from nodewright.testing.builders import a_group, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
SOON = NOW + timedelta(seconds=30)
LATE = Instance(id="late", state=InstanceState.CREATING)


def put_off(action, group="a", target="", *, until=SOON, tried=True):
    return Outcome(
        at=NOW,
        action=action,
        target=target or group,
        ok=False,
        error="too many calls",
        temporary=True,
        group=group,
        tried=tried,
        not_before=until,
    )


def decide_on(*groups, memory=None, now=NOW, outcomes=(), **world):
    return decide(a_world(groups=groups, outcomes=outcomes, **world), memory or Memory(), a_policy(), now)


def waiting(action, until=SOON, **slices):
    return Memory(health=HealthMemory(respites={"a": {action: until}}), **slices)


def test_a_group_whose_cloud_asked_for_fewer_orders_is_left_out_until_then_and_another_one_grows() -> None:
    groups, pod = [a_group("a"), a_group("b")], a_pod()
    decision, memory, _ = decide_on(*groups, pods=[pod], outcomes=[put_off("grow")])
    assert [grow.group for grow in decision.grow] == ["b"]
    assert str(decision.groups["a"]) == "its cloud asked for fewer calls (until 01:00:30)"
    assert memory.health.backoffs == {}
    assert decision.again == SOON
    decision, memory, _ = decide_on(a_group("a"), pods=[pod], memory=memory, now=NOW + timedelta(seconds=29))
    assert (decision.grow, decision.again) == ((), SOON)
    decision, memory, _ = decide_on(a_group("a"), pods=[pod], memory=memory, now=SOON)
    assert [grow.group for grow in decision.grow] == ["a"]
    assert (memory.health.respites, decision.again) == ({}, None)


def test_a_group_that_is_to_delete_less_may_grow() -> None:
    decision, _, _ = decide_on(a_group("a"), pods=[a_pod()], outcomes=[put_off("delete-instances", target="n")])
    assert [grow.group for grow in decision.grow] == ["a"]


@pytest.mark.parametrize("until", [NOW + timedelta(minutes=15, seconds=1), NOW])
def test_a_time_that_lies_further_ahead_than_any_may_or_is_over_is_dropped(until) -> None:
    decision, memory, _ = decide_on(a_group("a"), pods=[a_pod()], memory=waiting("grow", until))
    assert [grow.group for grow in decision.grow] == ["a"]
    assert memory.health.respites == {}


def test_what_waits_is_not_forgotten_while_no_process_runs_but_with_the_times() -> None:
    memory = waiting("grow")
    assert memory.after_absence().health.respites == {"a": {"grow": SOON}}
    assert memory.without_times().health.respites == {}


def test_machines_that_never_came_are_given_up_when_the_cloud_may_be_told() -> None:
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=3)}))
    group = replace(a_group("a"), target_size=3)
    decision, memory, _ = decide_on(group, memory=memory, outcomes=[put_off("shrink")])
    assert (decision.shrink, memory.health.backoffs) == ((), {})
    decision, memory, _ = decide_on(group, memory=memory, now=SOON)
    assert [shrink.count for shrink in decision.shrink] == [3]


@pytest.mark.parametrize("tried", [True, False])
def test_an_order_is_still_open_if_the_cloud_could_not_be_told_that_it_is_given_up(tried) -> None:
    before = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=3)}))
    group = replace(a_group("a"), target_size=3)
    decision, memory, _ = decide_on(group, memory=before)
    assert (len(decision.shrink), memory.orders.requests) == (1, {})
    outcome = put_off("shrink", tried=tried, until=SOON if tried else None)
    memory = Execution(decision=decision, outcomes=(outcome,)).memory(memory, before)
    decision, _, _ = decide_on(group, memory=memory, now=SOON)
    assert [shrink.count for shrink in decision.shrink] == [3]


def test_machines_that_never_became_nodes_are_deleted_when_the_cloud_may_be_told() -> None:
    memory = Memory(health=HealthMemory(unregistered_since={LATE.id: EPOCH}))
    group = replace(a_group("a", instances=[LATE]), target_size=1)
    decision, memory, _ = decide_on(group, memory=memory, outcomes=[put_off("delete-instances")])
    assert decision.delete == ()
    decision, memory, _ = decide_on(group, memory=memory, now=SOON)
    assert [delete.instances for delete in decision.delete] == [("late",)]


def test_the_status_and_why_say_that_a_group_waits_and_until_when() -> None:
    group = a_group("a")
    world = a_world(groups=[group])
    memory, settings = waiting("grow"), Settings()
    decision, memory, findings = decide(world, memory, a_policy(settings), NOW, in_depth=True)
    memory = note_conditions(world, findings, memory, settings, NOW)
    assert memory.status.conditions["a"].scale_up.status == "Backoff"
    look = Look(world=world, decision=decision, memory=memory, findings=findings)
    assert any("its cloud asked for fewer calls (until 01:00:30)" in line for line in explain_group(look, "a"))


class TestWhatWasNotTried:
    ORDER = Grow(group="a", count=2, from_size=0, verdict=Verdict(reason=Reason.CHOSEN))

    def execution(self, *outcomes):
        return Execution(decision=Decision(at=NOW, grow=(self.ORDER,)), outcomes=outcomes)

    def test_is_certainly_not_ordered_and_has_its_turn_in_the_next_loop(self) -> None:
        execution = self.execution(put_off("grow", tried=False))
        memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
        assert execution.memory(memory, Memory()).orders.requests == {}
        assert (execution.doubts, execution.calls_for_another) == ({}, False)

    def test_was_in_doubt_if_the_cloud_was_asked(self) -> None:
        execution = self.execution(put_off("grow"))
        memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
        assert execution.memory(memory, Memory()).orders.requests.keys() == {"a"}
        assert execution.doubts.keys() == {"a"}

    def test_is_left_out_where_another_group_failed_in_the_same_loop(self) -> None:
        world = a_world(groups=[a_group("a"), a_group("b")], pods=[a_pod()], outcomes=[put_off("grow", tried=False)])
        decision, memory, _ = decide_growth(world, Memory(), a_policy(), NOW)
        assert [grow.group for grow in decision.grow] == ["b"]
        assert memory.health.respites == {"a": {"grow": SOON}}


def test_a_process_that_ends_before_the_next_decision_leaves_what_the_cloud_said() -> None:
    known = Memory(
        leaving=RemovalMemory(
            removals={
                name: Removal(group="a", provider_id=f"fake://{name}", started=EPOCH, deleted_at=deleted)
                for name, deleted in (("n1", NOW), ("n2", NOW), ("n3", EPOCH))
            }
        )
    )
    outcomes = [put_off("grow", "b"), put_off("delete-instances", target="n1")]
    kept = to_be_kept(known, {}, None, outcomes)
    assert kept.health.respites == {"b": {"grow": SOON}, "a": {"delete-instances": SOON}}
    assert [name for name, each in kept.leaving.removals.items() if each.unanswered] == ["n1", "n2"]
