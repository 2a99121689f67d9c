"""Limits on removals beyond Cluster Autoscaler's: budgets, windows, savings, evictions, protected nodes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from nodewright.api import Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, Removal, RemovalMemory, UnneededMemory
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.worlds import a_policy, a_world

#: A Tuesday; 12:00 in Berlin.
NOW = datetime(2030, 1, 1, 11, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)


def settings(disruption=None, **scale_down):
    return Settings.model_validate({"scaleDown": {**scale_down, "disruption": disruption or {}}})


def members(group, count, **fields):
    return [a_node(f"{group}{number}", provider_id=f"fake://{group}-{number}", **fields) for number in range(count)]


def empty_world(**counts):
    return a_world(
        groups=[a_group(group, size=count) for group, count in counts.items()],
        nodes={group: members(group, count) for group, count in counts.items()},
    )


def world_with_pods(nodes, pods, price=None):
    """A group whose nodes have *pods* each, and one node that takes them all."""
    running = [a_pod(f"{node}-{pod}", node=f"a{node}") for node in range(nodes) for pod in range(pods)]
    groups = [a_group("a", size=nodes, price=price), a_group("b", size=1, min_size=1)]
    return a_world(groups=groups, nodes={"a": members("a", nodes), "b": members("b", 1, cpu="64")}, pods=running)


def decided(world, configured, memory=None, now=NOW):
    memory = replace(memory or Memory(), unneeded=UnneededMemory(since=dict.fromkeys(world.cluster.nodes, LONG_AGO)))
    return decide(world, memory, a_policy(configured), now)[:2]


def gone(decision):
    return [drain.node for drain in decision.drain]


def told(decision, reason):
    return {node: verdict.detail for node, verdict in decision.nodes.items() if verdict.reason is reason}


def test_a_budget_holds_for_the_groups_that_it_names_all_together() -> None:
    budget = {"nodes": 2, "groups": ["spot-*"]}
    world = empty_world(**{"spot-a": 2, "spot-b": 2, "base": 1})
    decision, _ = decided(world, settings({"budgets": [budget]}))
    assert sorted(gone(decision)) == ["base0", "spot-a0", "spot-a1"]
    why = "scaleDown.disruption.budgets[0]: 0 of 2 nodes on their way out"
    assert told(decision, Reason.DISRUPTION_BUDGET) == {"spot-b0": why, "spot-b1": why}


def test_a_part_is_rounded_up_and_nodes_on_their_way_out_count() -> None:
    budgets = {"budgets": [{"nodes": "25%"}]}
    assert len(gone(decided(empty_world(a=5), settings(budgets))[0])) == 2
    removal = Removal(group="a", provider_id="fake://a-0", started=NOW, drains=True)
    decision, _ = decided(empty_world(a=5), settings(budgets), Memory(leaving=RemovalMemory(removals={"a0": removal})))
    assert len(gone(decision)) == 1
    assert set(told(decision, Reason.DISRUPTION_BUDGET).values()) == {
        "scaleDown.disruption.budgets[0]: 1 of 2 nodes on their way out"
    }


def test_a_budget_holds_for_its_reasons_only() -> None:
    world = world_with_pods(3, pods=1)
    world.cluster.put_node(a_node("a3", provider_id="fake://a-3"))
    world = replace(world, group_of={**world.group_of, "a3": "a"}, groups=(a_group("a", size=4), *world.groups[1:]))
    configured = settings({"budgets": [{"nodes": 0, "reasons": ["underused"]}]}, maxDrainParallelism=5)
    decision, _ = decided(world, configured)
    assert gone(decision) == ["a3"]
    assert told(decision, Reason.DISRUPTION_BUDGET)["a0"] == "scaleDown.disruption.budgets[0]: no nodes"


def test_unready_nodes_have_a_budget_of_their_own() -> None:
    nodes = [a_node("sick", ready=False, created=LONG_AGO - timedelta(days=1)), a_node("well")]
    world = a_world(groups=[a_group("a", size=2)], nodes={"a": nodes})
    decision, _ = decided(world, settings({"budgets": [{"nodes": 0, "reasons": ["unready"]}]}))
    assert gone(decision) == ["well"]


def test_the_tightest_of_the_budgets_that_hold_counts() -> None:
    configured = settings({"budgets": [{"nodes": 3}, {"nodes": "50%"}, {"nodes": 1, "groups": "a"}]})
    assert len(gone(decided(empty_world(a=6), configured)[0])) == 1


OFFICE_HOURS = {"from": "0 9 * * mon-fri", "for": "8h", "timeZone": "Europe/Berlin"}


@pytest.mark.parametrize(
    ("hour", "frozen"), [("07:59:59", False), ("08:00:00", True), ("15:59:59", True), ("16:00:00", False)]
)
def test_a_budget_holds_while_its_window_is_open_by_the_clock_of_its_time_zone(hour, frozen) -> None:
    now = datetime.fromisoformat(f"2030-01-01T{hour}Z")
    configured = settings({"budgets": [{"nodes": 0, "schedule": OFFICE_HOURS}]})
    world = empty_world(a=1)
    decision, _, _ = decide(
        world, Memory(unneeded=UnneededMemory(since={"a0": now - timedelta(hours=1)})), a_policy(configured), now
    )
    assert gone(decision) == ([] if frozen else ["a0"])
    if frozen:
        assert str(decision.nodes["a0"]) == (
            "a disruption budget does not allow it now "
            "(scaleDown.disruption.budgets[0]: no nodes, until Tue 17:00 Europe/Berlin)"
        )


def test_pods_are_moved_only_for_a_saving_that_is_worth_it() -> None:
    configured = settings({"minSaving": 0.1})
    dear, _ = decided(world_with_pods(1, pods=1, price=0.1), configured)
    assert gone(dear) == ["a0"]
    cheap, _ = decided(world_with_pods(1, pods=1, price=0.05), configured)
    assert str(cheap.nodes["a0"]) == "costs too little to move pods for (0.05 an hour, at least 0.1)"
    unknown, _ = decided(world_with_pods(1, pods=1), configured)
    assert unknown.nodes["a0"].detail == "nobody knows its price, at least 0.1"
    assert gone(decided(empty_world(a=1), configured)[0]) == ["a0"]


def test_only_so_many_pods_have_to_move_within_an_hour() -> None:
    configured = settings({"maxEvictionsPerHour": 5}, maxDrainParallelism=10)
    world = world_with_pods(4, pods=2)
    first, memory = decided(world, configured)
    assert gone(first) == ["a0", "a1"]
    assert [evictions.count for evictions in memory.leaving.evictions] == [4]
    left = replace(memory, leaving=replace(memory.leaving, removals={}))
    then, memory = decided(world, configured, left, now=NOW + timedelta(minutes=59))
    assert not gone(then)
    assert str(then.nodes["a0"]) == (
        "as many pods as allowed had to move within an hour (4 of 5, fewer from 12:00:00 on)"
    )
    later, memory = decided(world, configured, left, now=NOW + timedelta(hours=1))
    assert len(gone(later)) == 2
    assert [evictions.at for evictions in memory.leaving.evictions] == [NOW + timedelta(hours=1)]


def test_evictions_are_not_counted_where_nothing_limits_them() -> None:
    _, memory = decided(world_with_pods(1, pods=2), settings())
    assert memory.leaving.removals
    assert memory.leaving.evictions == ()


UNREADABLE = "nodewright.dev/do-not-disrupt: write true, a time such as 2030-01-31T08:30:00Z or a duration"
BORN = NOW - timedelta(hours=2)


@pytest.mark.parametrize(
    ("annotations", "why"),
    [
        ({"nodewright.dev/do-not-disrupt": "true"}, "nodewright.dev/do-not-disrupt"),
        ({"karpenter.sh/do-not-disrupt": "true"}, "karpenter.sh/do-not-disrupt"),
        ({"nodewright.dev/do-not-disrupt": "2030-01-01T12:30:00+01:00"}, "until 2030-01-01 11:30:00"),
        ({"nodewright.dev/do-not-disrupt": "2h1m"}, "until 2030-01-01 11:01:00"),
        (
            {"nodewright.dev/do-not-disrupt": "9999-12-31T23:59:59-05:00"},
            f'{UNREADABLE}, not "9999-12-31T23:59:59-05:00"',
        ),
        (
            {"nodewright.dev/do-not-disrupt": "2030-01-31T08:30:00"},
            'nodewright.dev/do-not-disrupt: add the time zone, as in 2030-01-31T08:30:00Z, not "2030-01-31T08:30:00"',
        ),
        ({"nodewright.dev/do-not-disrupt": "tomorrow"}, f'{UNREADABLE}, not "tomorrow"'),
        ({"nodewright.dev/do-not-disrupt": "false"}, None),
        ({"nodewright.dev/do-not-disrupt": "2030-01-01T11:00:00Z"}, None),
        ({"nodewright.dev/do-not-disrupt": "2h"}, None),
        ({"karpenter.sh/do-not-disrupt": "false"}, None),
    ],
)
def test_a_node_may_be_protected_for_good_or_for_a_time(annotations, why) -> None:
    node = a_node("n", annotations=annotations, created=BORN)
    decision, _ = decided(a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}), settings())
    assert gone(decision) == ([] if why else ["n"])
    if why:
        assert (decision.nodes["n"].reason, decision.nodes["n"].detail) == (Reason.PROTECTED, why)


def test_without_any_of_this_nothing_is_different() -> None:
    assert len(gone(decided(empty_world(a=10), settings())[0])) == 10
