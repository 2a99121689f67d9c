"""Groups that somebody else steers, or that are paused, are left alone."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Pause, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import (
    HealthMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
    UnneededMemory,
)
from nodewright.explain.explanation import explain_group, explain_node
from nodewright.explain.look import Look
from nodewright.objects import Taint
from nodewright.objects.node import TO_BE_DELETED
from nodewright.testing.builders import a_failed_instance, a_group, a_node, a_pod, an_instance
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
WHY = "people work on it: take the label off"
PAUSED = Pause(why=WHY)
ONLY_GROWTH = Pause(why=WHY, shrinks=True)


def a_paused_group(name="a", pause=PAUSED, **fields):
    return replace(a_group(name, **fields), pause=pause)


def decide_on(*groups, memory=None, nodes=None, pods=(), **settings):
    world = a_world(groups=groups, nodes=nodes, pods=pods)
    policy = a_policy(Settings.model_validate(settings))
    decision, after, findings = decide(world, memory or Memory(), policy, NOW, in_depth=True)
    return Look(world=world, decision=decision, memory=after, findings=findings)


@pytest.mark.parametrize("pause", [PAUSED, ONLY_GROWTH])
def test_a_paused_group_does_not_grow_and_says_why(pause) -> None:
    look = decide_on(a_paused_group(pause=pause), a_group("b"), pods=[a_pod()])
    assert [each.group for each in look.decision.grow] == ["b"]
    assert str(look.decision.groups["a"]) == f"the group is left alone ({WHY})"
    words = explain_group(look, "a")
    assert f"  it {'does not grow' if pause.shrinks else 'is left alone'}: {WHY}" in words


def test_a_paused_group_is_not_brought_to_its_minimum() -> None:
    look = decide_on(a_paused_group(min_size=2), scaleUp={"enforceMinSize": True})
    assert not look.decision.grow


@pytest.mark.parametrize(("pause", "drained"), [(PAUSED, []), (ONLY_GROWTH, ["n"]), (None, ["n"])])
def test_nodes_of_a_paused_group_stay_unless_it_may_shrink(pause, drained) -> None:
    group = a_paused_group(pause=pause, size=1)
    node = a_node("n", provider_id=group.instances[0].id)
    memory = Memory(unneeded=UnneededMemory(since={"n": EPOCH}))
    look = decide_on(group, nodes={"a": [node]}, memory=memory)
    assert [each.node for each in look.decision.drain] == drained
    if not drained:
        assert look.decision.nodes["n"].reason is Reason.GROUP_PAUSED
        assert f"  stays: the group is left alone ({WHY}) [Paused]" in explain_node(look, "n")


def test_a_removal_that_is_under_way_in_a_paused_group_is_taken_back() -> None:
    group = a_paused_group(size=1)
    node = a_node("n", provider_id=group.instances[0].id, taints=[Taint(key=TO_BE_DELETED, effect="NoSchedule")])
    removal = Removal(group="a", provider_id=group.instances[0].id, started=EPOCH)
    look = decide_on(group, nodes={"a": [node]}, memory=Memory(leaving=RemovalMemory(removals={"n": removal})))
    assert [each.node for each in look.decision.restore] == ["n"]
    assert WHY in look.decision.restore[0].verdict.detail
    assert not look.decision.delete


@pytest.mark.parametrize(("pause", "deleted"), [(PAUSED, []), (ONLY_GROWTH, ["a", "a"])])
def test_machines_that_will_never_be_nodes_stay_in_a_paused_group(pause, deleted) -> None:
    instances = [a_failed_instance("failed"), an_instance("late")]
    memory = Memory(health=HealthMemory(unregistered_since={"late": EPOCH}))
    group = replace(a_paused_group(pause=pause, instances=instances), target_size=2)
    look = decide_on(group, memory=memory)
    assert [each.group for each in look.decision.delete] == deleted


@pytest.mark.parametrize(("pause", "given_up"), [(PAUSED, []), (ONLY_GROWTH, [2])])
def test_what_never_came_is_not_given_up_in_a_paused_group_and_not_waited_for(pause, given_up) -> None:
    group = replace(a_paused_group(pause=pause), target_size=2)
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=2)}))
    look = decide_on(group, a_group("b"), memory=memory, pods=[a_pod()])
    assert [each.count for each in look.decision.shrink] == given_up
    assert look.memory.orders.requests.keys() == {"b"}
    assert [each.group for each in look.decision.grow] == ["b"]


def test_an_order_of_a_paused_group_is_waited_for_as_long_as_any() -> None:
    group = replace(a_paused_group(), target_size=1)
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW - timedelta(minutes=1), count=1)}))
    look = decide_on(group, a_group("b"), memory=memory, pods=[a_pod()])
    assert look.findings.upcoming == {"a": 1}
    assert not look.decision.grow


def test_pods_go_on_running_on_and_coming_to_nodes_of_a_paused_group() -> None:
    group = a_paused_group(size=1)
    node = a_node("n", provider_id=group.instances[0].id)
    look = decide_on(group, a_group("b"), nodes={"a": [node]}, pods=[a_pod("p")])
    assert look.decision.pods["default/p"].reason is Reason.FITS
    assert look.findings.readiness["a"].ready == 1
    assert not look.decision.notices
