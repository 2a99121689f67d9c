"""A machine that has the id of an earlier one is another machine."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import InstanceState, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import HealthMemory, Memory, Removal, RemovalMemory, UnneededMemory
from nodewright.decision.recovery import recover
from nodewright.objects import Taint
from nodewright.objects.node import TO_BE_DELETED
from nodewright.testing.builders import a_failed_instance, a_group, a_node, an_instance
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
MARK = Taint(key=TO_BE_DELETED, effect="NoSchedule")
#: What was known, what is told now, and whether that is another machine.
CASES = [("1", "2", True), ("1", "1", False), ("1", "", False), ("", "2", False)]


def a_group_of(instance, incarnation):
    return replace(a_group("a", instances=[replace(instance, incarnation=incarnation)]), target_size=1)


def known(incarnation):
    return {"m": incarnation} if incarnation else {}


def decide_on(group, memory, nodes=(), now=NOW):
    return decide(a_world(groups=[group], nodes={"a": nodes}), memory, a_policy(), now)[:2]


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_another_machine_has_its_full_time_to_become_a_node(before, after, another) -> None:
    group = a_group_of(an_instance("m", state=InstanceState.CREATING), after)
    memory = Memory(health=HealthMemory(unregistered_since={"m": EPOCH}, incarnations=known(before)))
    decision, memory = decide_on(group, memory)
    assert bool(decision.delete) is not another
    assert memory.health.unregistered_since == {"m": NOW if another else EPOCH}
    assert memory.health.incarnations == {"m": after or before}


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_another_machine_that_fails_backs_its_group_off_anew(before, after, another) -> None:
    group = a_group_of(a_failed_instance("m"), after)
    memory = Memory(health=HealthMemory(failed_since={"m": EPOCH}, incarnations=known(before)))
    _, memory = decide_on(group, memory)
    assert bool(memory.health.backoffs) is another


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_the_node_of_another_machine_has_not_been_unneeded_before(before, after, another) -> None:
    memory = Memory(unneeded=UnneededMemory(since={"n": EPOCH}), health=HealthMemory(incarnations=known(before)))
    decision, _ = decide_on(a_group_of(an_instance("m"), after), memory, [a_node("n", provider_id="m")])
    assert decision.nodes["n"].reason is (Reason.NOT_LONG_ENOUGH if another else Reason.EMPTY)


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_a_removal_is_not_about_another_machine(before, after, another) -> None:
    removal = Removal(group="a", provider_id="m", incarnation=before, started=NOW - timedelta(minutes=1))
    memory = Memory(leaving=RemovalMemory(removals={"n": removal}))
    node = a_node("n", provider_id="m", taints=[MARK])
    decision, memory = decide_on(a_group_of(an_instance("m"), after), memory, [node])
    assert bool(decision.delete) is not another
    assert [each.verdict.reason for each in decision.restore] == ([Reason.LEFTOVER] if another else [])
    assert ("n" in memory.leaving.removals) is not another


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_another_machine_was_not_deleted_yet(before, after, another) -> None:
    removal = Removal(group="a", provider_id="m", incarnation=before, started=EPOCH, deleted_at=NOW)
    memory = Memory(leaving=RemovalMemory(removals={"n": removal}))
    node = a_node("n", provider_id="m", taints=[MARK])
    decision, _ = decide_on(a_group_of(an_instance("m"), after), memory, [node], NOW + timedelta(seconds=10))
    assert [each.node for each in decision.restore] == (["n"] if another else [])


def test_a_removal_remembers_which_machine_it_is_about() -> None:
    memory = Memory(unneeded=UnneededMemory(since={"n": EPOCH}))
    decision, memory = decide_on(a_group_of(an_instance("m"), "1"), memory, [a_node("n", provider_id="m")])
    assert [each.node for each in decision.drain] == ["n"]
    assert memory.leaving.removals["n"].incarnation == "1"


@pytest.mark.parametrize(("before", "after", "another"), CASES)
def test_a_deletion_that_a_killed_process_ordered_is_not_repeated_on_another_machine(before, after, another) -> None:
    removal = Removal(
        group="a",
        provider_id="m",
        incarnation=before,
        started=EPOCH,
        deleted_at=NOW - timedelta(minutes=1),
        unanswered=True,
    )
    world = a_world(
        groups=[a_group_of(an_instance("m"), after)], nodes={"a": [a_node("n", provider_id="m", taints=[MARK])]}
    )
    _, memory = recover(world, Memory(leaving=RemovalMemory(removals={"n": removal})), NOW)
    assert (memory.leaving.removals["n"].deleted_at is None) is not another


def test_what_is_known_of_ids_is_forgotten_with_them() -> None:
    memory = Memory(health=HealthMemory(unregistered_since={"gone": EPOCH}, incarnations={"gone": "1"}))
    _, memory = decide_on(a_group("a"), memory)
    assert memory.health.incarnations == {}
