"""Nodes whose machines the cloud is about to end."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import GroupOptions, Reason
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, UnneededMemory
from nodewright.explain.explanation import explain_node
from nodewright.explain.look import Look
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
SOON = NOW + timedelta(minutes=15)
LATER = SOON + timedelta(seconds=1)
LOOP = timedelta(seconds=10)


def a_group_ending(*ends, name="a", **fields):
    group = a_group(name, size=len(ends), **fields)
    instances = [replace(each, ends_at=end) for each, end in zip(group.instances, ends, strict=True)]
    return replace(group, instances=tuple(instances))


def nodes_of(group):
    return [a_node(f"n{number}", provider_id=each.id) for number, each in enumerate(group.instances)]


def web(name="p", **fields):
    return a_pod(name, owner="ReplicaSet/web", **fields)


def decide_on(group, pods=(), memory=None, now=NOW):
    world = a_world(groups=[group], nodes={"a": nodes_of(group)}, pods=pods)
    decision, after, findings = decide(world, memory or Memory(), a_policy(), now, in_depth=True)
    return Look(world=world, decision=decision, memory=after, findings=findings)


@pytest.mark.parametrize(("end", "grown"), [(SOON, 1), (LATER, 0), (None, 0)])
def test_pods_get_another_node_before_theirs_ends(end, grown) -> None:
    look = decide_on(a_group_ending(end), [web(node="n0", cpu="3")])
    assert sum(each.count for each in look.decision.grow) == grown


def test_how_early_depends_on_how_long_a_node_of_the_group_may_take() -> None:
    options = GroupOptions(max_node_provision_time=timedelta(minutes=30))
    look = decide_on(a_group_ending(NOW + timedelta(minutes=29), options=options), [web(node="n0", cpu="3")])
    assert sum(each.count for each in look.decision.grow) == 1


def test_the_other_node_is_ordered_once() -> None:
    group = a_group_ending(SOON)
    pods = [web(node="n0", cpu="3")]
    look = decide_on(group, pods)
    ordered = replace(group, target_size=2)
    look = decide_on(ordered, pods, look.memory, NOW + LOOP)
    assert not look.decision.grow


def test_the_other_node_is_kept_until_the_pods_come() -> None:
    group = a_group_ending(SOON, None)
    look = decide_on(group, [web(node="n0", cpu="3")], Memory(unneeded=UnneededMemory(since={"n1": EPOCH})))
    assert look.decision.quiet


def test_no_other_node_is_needed_if_the_pods_fit_elsewhere_or_do_not_come_back() -> None:
    assert not decide_on(a_group_ending(SOON, None), [web(node="n0")]).decision.grow
    assert not decide_on(a_group_ending(SOON), [a_pod(node="n0", owner="DaemonSet/agent")]).decision.grow


def test_waiting_pods_get_no_place_on_a_node_that_ends() -> None:
    look = decide_on(a_group_ending(SOON), [web()])
    assert [(each.group, each.count) for each in look.decision.grow] == [("a", 1)]
    assert decide_on(a_group_ending(LATER), [web()]).decision.quiet


@pytest.mark.parametrize(("end", "verdict"), [(SOON, Reason.NO_PLACE), (LATER, Reason.MOVABLE)])
def test_pods_are_not_moved_to_a_node_that_ends(end, verdict) -> None:
    memory = Memory(unneeded=UnneededMemory(since={"n1": EPOCH}))
    stays = a_pod("agent", node="n0", cpu="2500m", owner="DaemonSet/agent")
    look = decide_on(a_group_ending(end, None), [web(node="n1"), stays], memory)
    assert look.decision.nodes["n1"].reason is verdict


def test_a_node_that_ends_is_not_removed_and_says_when_it_ends() -> None:
    look = decide_on(a_group_ending(SOON), memory=Memory(unneeded=UnneededMemory(since={"n0": EPOCH})))
    assert look.decision.quiet
    assert "  stays: its machine is about to be ended by the cloud (at 01:15:00) [MachineEnds]" in explain_node(
        look, "n0"
    )
