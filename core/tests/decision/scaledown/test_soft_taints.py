"""Unneeded nodes get a hint, which says since when they are unneeded."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import Taint
from nodewright.config.model import ScaleDown, Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Changes, CooldownMemory, Memory, Removal, RemovalMemory, UnneededMemory
from nodewright.decision.scaledown.removal.soft_taints import candidates_by_taint, plan_soft_taints
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
SINCE = NOW - timedelta(minutes=5)


def hint(since=SINCE):
    return Taint(
        key="DeletionCandidateOfClusterAutoscaler", value=str(int(since.timestamp())), effect="PreferNoSchedule"
    )


def world_of(hinted=(), plain=(), error=""):
    nodes = [a_node(name, taints=[hint()]) for name in hinted] + [a_node(name) for name in plain]
    return a_world(groups=[replace(a_group("a", size=len(nodes)), error=error)], nodes={"a": nodes})


def unneeded(*names, **fields):
    return Memory(unneeded=UnneededMemory(since=dict.fromkeys(names, SINCE)), **fields)


def planned(world, memory, **settings):
    policy = a_policy(Settings.model_validate({"scaleDown": settings}))
    plan = plan_soft_taints(world, memory.unneeded, memory.leaving, policy)
    return [each.node for each in plan.soft_untaint], [each.node for each in plan.soft_taint]


def test_unneeded_nodes_get_a_hint_and_needed_ones_lose_it() -> None:
    assert planned(world_of(hinted=["old", "kept"], plain=["new", "busy"]), unneeded("kept", "new")) == (
        ["old"],
        ["new"],
    )


def test_a_budget_holds_for_both_and_losing_comes_first() -> None:
    world = world_of(hinted=["o1", "o2"], plain=["n1", "n2", "n3"])
    memory = unneeded("n1", "n2", "n3")
    assert planned(world, memory, softTaints={"maxCount": 3}) == (["o1", "o2"], ["n1"])
    assert planned(world, memory, softTaints={"maxCount": 1}) == (["o1"], [])


def test_without_a_budget_all_hints_go_at_once() -> None:
    names = [f"n{number}" for number in range(30)]
    assert planned(world_of(hinted=names), unneeded(*names), softTaints={"maxCount": 0}) == (names, [])


def test_nodes_that_go_keep_what_they_have() -> None:
    removals = {
        name: Removal(group="a", provider_id=f"fake://{name}", started=NOW) for name in ("going", "going-hinted")
    }
    memory = unneeded("going", "going-hinted", leaving=RemovalMemory(removals=removals))
    assert planned(world_of(hinted=["going-hinted"], plain=["going"]), memory) == ([], [])


def test_hints_on_nodes_of_no_group_or_of_a_group_that_can_not_be_read_are_left_alone() -> None:
    strangers = a_world(nodes={"": [a_node("stranger", taints=[hint()])]})
    assert planned(strangers, Memory()) == ([], [])
    assert planned(world_of(hinted=["n"], error="cloud down"), Memory()) == ([], [])


def test_a_hint_that_tells_another_time_is_written_anew() -> None:
    memory = Memory(unneeded=UnneededMemory(since={"n": NOW}))
    (hinted,) = plan_soft_taints(world_of(hinted=["n"]), memory.unneeded, memory.leaving, a_policy()).soft_taint
    assert (hinted.node, hinted.since) == ("n", NOW)


def test_a_decision_gives_hints_also_while_removals_pause_and_is_quiet_all_the_same() -> None:
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [a_node("n")]})
    memory = Memory(cooldown=CooldownMemory(cluster=Changes(grown=NOW)))
    decision, _, _ = decide(world, memory, a_policy(), NOW)
    assert [each.node for each in decision.soft_taint] == ["n"]
    assert decision.quiet


def test_a_pod_that_takes_the_node_back_takes_the_hint_off() -> None:
    world = a_world(
        groups=[a_group("a", size=1)],
        nodes={"a": [a_node("n", taints=[hint()])]},
        pods=[a_pod("busy", node="n", cpu="3")],
    )
    decision, _, _ = decide(world, unneeded("n"), a_policy(), NOW)
    assert [each.node for each in decision.soft_untaint] == ["n"]


@pytest.mark.parametrize(("ttl", "since"), [("10m", SINCE), ("4m", None), ("0s", None)])
def test_a_life_that_begins_goes_by_hints_that_are_young_enough(ttl, since) -> None:
    found = candidates_by_taint(world_of(hinted=["n"]), ScaleDown.model_validate({"candidateTtl": ttl}), NOW)
    assert found.get("n") == since


@pytest.mark.parametrize("value", ["", "yesterday", "99999999999999999999"])
def test_a_hint_that_tells_no_time_is_none(value) -> None:
    taint = Taint(key=hint().key, value=value, effect="PreferNoSchedule")
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [a_node("n", taints=[taint])]})
    settings = ScaleDown.model_validate({"candidateTtl": "10m"})
    assert candidates_by_taint(world, settings, NOW) == {}
    assert planned(world, unneeded("n")) == ([], ["n"])
