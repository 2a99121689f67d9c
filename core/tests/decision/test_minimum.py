"""Groups below their minimum size grow to it if the settings say so."""

from dataclasses import replace
from datetime import timedelta

from nodewright.api import ErrorClass, InstanceError, Outcome
from nodewright.config.model import Settings
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory, OrderMemory, ScaleUpRequest
from nodewright.explain.narrative import describe_actions
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)


def decide_on(world, *, enforce=True, most_nodes=0, memory=None):
    document = {"scaleUp": {"enforceMinSize": enforce}, "limits": {"nodes": {"max": most_nodes}}}
    return decide(world, memory or Memory(), a_policy(Settings.model_validate(document)), NOW)[:2]


def growth(decision):
    return {grow.group: grow.count for grow in decision.grow}


def test_a_group_below_its_minimum_grows_to_it_without_pods_only_if_that_is_wanted() -> None:
    world = a_world(groups=[a_group("a", min_size=2), a_group("b", size=1, min_size=1)], nodes={"b": [a_node()]})
    decision, memory = decide_on(world)
    assert growth(decision) == {"a": 2}
    assert describe_actions(decision) == ["grow a 0 → 2: below its minimum size (0 of 2)"]
    assert memory.orders.requests["a"] == ScaleUpRequest(at=NOW, count=2)
    assert growth(decide_on(world, enforce=False)[0]) == {}


def test_growth_for_pods_counts_for_the_minimum() -> None:
    pods = [a_pod(f"p{number}", cpu="3") for number in range(2)]
    decision, memory = decide_on(a_world(groups=[a_group("a", min_size=3)], pods=pods))
    (grow,) = decision.grow
    assert (grow.count, len(grow.pods)) == (3, 2)
    assert grow.verdict.detail == "the only option, and 1 more for its minimum of 3"
    assert memory.orders.requests["a"].count == 3
    assert growth(decide_on(a_world(groups=[a_group("a", min_size=2)], pods=pods))[0]) == {"a": 2}


def test_the_minimum_yields_to_the_size_of_the_cluster() -> None:
    groups = [a_group("a", min_size=3), a_group("b", min_size=3)]
    assert growth(decide_on(a_world(groups=groups), most_nodes=4)[0]) == {"a": 3, "b": 1}
    pods = [a_pod(f"p{number}", cpu="3") for number in range(3)]
    world = a_world(groups=groups, pods=pods, nodes={"": [a_node("full", cpu="1")]})
    grown = growth(decide_on(world, most_nodes=5)[0])
    assert sum(grown.values()) == 4


def test_the_minimum_yields_to_limits_on_resources() -> None:
    document = {"scaleUp": {"enforceMinSize": True}, "limits": {"cpu": {"max": 9}}}
    world = a_world(groups=[a_group("a", min_size=3)])
    decision, _, _ = decide(world, Memory(), a_policy(Settings.model_validate(document)), NOW)
    assert growth(decision) == {"a": 2}


def test_a_group_that_failed_is_not_grown_to_its_minimum() -> None:
    cause = InstanceError(error_class=ErrorClass.QUOTA, code="Q")
    outcome = Outcome(at=NOW, action="grow", target="a", ok=False, error="no", cause=cause)
    decision, _ = decide_on(a_world(groups=[a_group("a", min_size=1)], outcomes=[outcome]))
    assert growth(decision) == {}


def test_what_was_ordered_already_counts_for_the_minimum() -> None:
    group = replace(a_group("a", min_size=2), target_size=2)
    decision, _ = decide_on(
        a_world(groups=[group]), memory=Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
    )
    assert growth(decision) == {}
