"""Clouds that tell how many more machines they could deliver are not asked for more."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import GroupOptions, Reason
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

LARGE = [a_pod(f"p{number}", cpu="3") for number in range(4)]


def a_short_group(name="a", available=2, **fields):
    return replace(a_group(name, **fields), available=available)


def decide_on(*groups, pods=LARGE, **settings):
    nodes = {
        facts.id: [a_node(f"{facts.id}-{n}", provider_id=each.id) for n, each in enumerate(facts.instances)]
        for facts in groups
    }
    world = a_world(groups=groups, pods=pods, nodes=nodes)
    decision, _, _ = decide(world, Memory(), a_policy(Settings.model_validate(settings)), EPOCH)
    return decision, {each.group: each.count for each in decision.grow}


def test_a_group_grows_by_what_its_cloud_has_and_the_next_one_takes_the_rest() -> None:
    _, grown = decide_on(a_short_group(), a_short_group("b"), scaleUp={"balanceSimilarGroups": False})
    assert grown == {"a": 2, "b": 2}


def test_a_group_of_which_nothing_is_left_takes_no_part() -> None:
    decision, grown = decide_on(a_short_group(available=0), a_group("b"))
    assert grown == {"b": 4}
    assert str(decision.groups["a"]) == "its cloud has too few machines left"
    assert decision.groups["a"].reason is Reason.NONE_AVAILABLE


def test_similar_groups_get_what_one_of_them_can_not() -> None:
    _, grown = decide_on(a_short_group(available=1), a_group("b"), scaleUp={"balanceSimilarGroups": True})
    assert grown == {"a": 1, "b": 3}


@pytest.mark.parametrize(("available", "grown"), [(2, {}), (3, {"a": 3})])
def test_a_group_that_is_used_whole_grows_only_if_all_of_it_is_left(available, grown) -> None:
    whole = GroupOptions(zero_or_max_node_scaling=True)
    decision, found = decide_on(a_short_group(available=available, max_size=3, options=whole))
    assert found == grown
    if not grown:
        assert str(decision.groups["a"]) == "its cloud has too few machines left (2 of 3 that it needs)"


@pytest.mark.parametrize(("available", "grown"), [(3, {}), (4, {"a": 4})])
def test_pods_that_only_together_are_of_use_wait_if_too_few_machines_are_left(available, grown) -> None:
    together = {"nodewright.dev/all-or-nothing": "job"}
    _, found = decide_on(
        a_short_group(available=available),
        pods=[a_pod(f"p{number}", cpu="3", annotations=together) for number in range(4)],
    )
    assert found == grown


@pytest.mark.parametrize(("available", "grown"), [(None, 3), (5, 3), (2, 2), (0, 0)])
def test_a_group_below_its_minimum_gets_what_is_left(available, grown) -> None:
    _, found = decide_on(a_short_group(available=available, min_size=3), pods=(), scaleUp={"enforceMinSize": True})
    assert found.get("a", 0) == grown


def test_what_is_ordered_for_pods_is_not_left_for_the_minimum() -> None:
    group = a_short_group(available=3, min_size=5)
    _, found = decide_on(group, pods=LARGE[:2], scaleUp={"enforceMinSize": True})
    assert found == {"a": 3}


@pytest.mark.parametrize(("available", "grown"), [(None, {"small": 2}), (2, {"small": 2}), (1, {}), (0, {})])
def test_nodes_are_not_replaced_by_more_cheaper_ones_than_are_left(available, grown) -> None:
    large = a_group("large", size=1, price=1.0, template=a_template(cpu="16", memory="64Gi"))
    small = a_group("small", price=0.1)
    born = EPOCH - timedelta(hours=1)
    node = a_node("l0", provider_id=large.instances[0].id, cpu="16", memory="64Gi", created=born)
    pods = [a_pod(f"p{number}", cpu="3", node="l0", owner="ReplicaSet/web") for number in range(2)]
    settings = Settings.model_validate(
        {"scaleDown": {"consolidation": {"enabled": True, "after": "1s", "reserve": "0s"}}}
    )
    world = a_world(groups=[large, replace(small, available=available)], nodes={"large": [node]}, pods=pods)
    decision, _, _ = decide(world, Memory(), a_policy(settings), EPOCH)
    assert {each.group: each.count for each in decision.grow} == grown
