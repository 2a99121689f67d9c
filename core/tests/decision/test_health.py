"""What a decision makes of machines that do not come."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import ErrorClass, GroupOptions, Instance, InstanceError, InstanceState, Outcome, Reason
from nodewright.decision.decide import decide
from nodewright.decision.health import Readiness
from nodewright.decision.memory import HealthMemory, Memory, OrderMemory, ScaleUpRequest, Shortage, UnneededMemory
from nodewright.testing.builders import a_group, a_node, a_pod
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
STOCK_OUT = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NoCapacity", message="no c5 in eu-a")


def decide_on(world, memory=None, now=NOW, settings=None):
    return decide(world, memory or Memory(), a_policy(settings), now)[:2]


def ordered(count, group="a", at=NOW, **fields):
    return Memory(orders=OrderMemory(requests={group: ScaleUpRequest(at=at, count=count, **fields)}))


def creating(name, error=None):
    return Instance(id=name, state=InstanceState.CREATING, error=error)


def test_a_machine_that_the_cloud_could_not_make_is_deleted_and_its_group_left_alone() -> None:
    group = a_group("spot", size=1, instances=[creating("i-1", STOCK_OUT)])
    world = a_world(groups=[group, a_group("fallback")], pods=[a_pod()])
    decision, memory = decide_on(world)
    assert decision.delete[0].instances == ("i-1",)
    assert str(decision.delete[0].verdict) == "the cloud could not make it (NoCapacity: no c5 in eu-a)"
    assert decision.grow[0].group == "fallback"
    assert memory.health.backoffs["spot"].code == "NoCapacity"


def test_failed_machines_below_the_minimum_are_kept_as_the_provider_would_refuse() -> None:
    group = a_group("spot", size=1, min_size=1, instances=[creating("i-1", STOCK_OUT)])
    decision, _ = decide_on(a_world(groups=[group]))
    assert not decision.delete


def test_a_machine_that_never_becomes_a_node_is_deleted_after_its_time() -> None:
    world = a_world(groups=[a_group("a", size=1, instances=[creating("i-1")])])
    memory = Memory()
    decision, memory = decide_on(world, memory)
    decision, memory = decide_on(world, memory, NOW + timedelta(minutes=15))
    assert not decision.delete
    decision, memory = decide_on(world, memory, NOW + timedelta(minutes=15, seconds=1))
    assert decision.delete[0].verdict.reason is Reason.NEVER_REGISTERED
    assert memory.health.backoffs["a"].code == "timeout"


def test_the_groups_own_patience_counts() -> None:
    options = GroupOptions(max_node_provision_time=timedelta(minutes=1))
    world = a_world(groups=[a_group("a", size=1, instances=[creating("i-1")], options=options)])
    _, memory = decide_on(world)
    decision, _ = decide_on(world, memory, NOW + timedelta(minutes=2))
    assert decision.delete


def test_demand_that_the_cloud_never_met_is_given_up() -> None:
    world = a_world(groups=[replace(a_group("a"), target_size=3)])
    memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW - timedelta(minutes=16), count=3)}))
    decision, memory = decide_on(world, memory)
    assert (decision.shrink[0].group, decision.shrink[0].count) == ("a", 3)
    assert memory.orders.requests == {}


def test_machines_that_another_actor_ordered_are_counted_on_once_they_exist() -> None:
    group = replace(a_group("a", size=1), target_size=2)
    nodes = {"a": [a_node("n", cpu="1", provider_id="fake://a-0")]}
    pods = [a_pod("here", cpu="600m", node="n"), a_pod(cpu="600m")]
    decision, _ = decide_on(a_world(groups=[group], nodes=nodes, pods=pods))
    assert decision.grow[0].count == 1
    group = replace(group, instances=(*group.instances, creating("i-1")))
    decision, memory = decide_on(a_world(groups=[group], nodes=nodes, pods=pods))
    assert not decision.grow
    assert memory.orders.requests["a"] == ScaleUpRequest(at=NOW, count=1, ours=False)


@pytest.mark.parametrize("machines", [0, 1])
def test_a_target_that_the_cloud_never_meets_is_taken_back_no_matter_who_set_it(machines) -> None:
    nodes = [a_node("n", provider_id="fake://a-0")] * machines
    world = a_world(groups=[replace(a_group("a", size=machines), target_size=3)], nodes={"a": nodes}, pods=[a_pod()])
    first, memory = decide_on(world)
    assert (first.shrink, first.halted) == ((), None)
    decision, memory = decide_on(world, memory, NOW + timedelta(minutes=16))
    assert [(shrink.group, shrink.count) for shrink in decision.shrink] == [("a", 3 - machines)]
    assert str(decision.halted) == "target sizes that the cloud never reached were lowered, the next loop goes on (a)"
    assert memory.health.backoffs["a"].code == "timeout"


def test_a_shortage_that_changes_is_given_time_again() -> None:
    def short_of(machines):
        nodes = [a_node(f"n{number}", provider_id=f"fake://a-{number}") for number in range(machines)]
        return a_world(groups=[replace(a_group("a", size=machines), target_size=3)], nodes={"a": nodes})

    _, memory = decide_on(short_of(1))
    _, memory = decide_on(short_of(2), memory, NOW + timedelta(minutes=10))
    decision, memory = decide_on(short_of(2), memory, NOW + timedelta(minutes=16))
    assert not decision.shrink
    decision, _ = decide_on(short_of(2), memory, NOW + timedelta(minutes=26))
    assert decision.shrink


def test_a_size_that_can_not_be_corrected_halts_one_loop_and_not_all() -> None:
    group = replace(a_group("a", size=1), target_size=3)
    world = a_world(groups=[group], nodes={"a": [a_node("n", provider_id="fake://a-0")]})
    _, memory = decide_on(world)
    decision, memory = decide_on(world, memory, NOW + timedelta(minutes=16))
    assert decision.halted
    decision, _ = decide_on(world, memory, NOW + timedelta(minutes=17))
    assert not decision.halted


def test_a_node_that_is_starting_counts_as_upcoming_and_not_as_there() -> None:
    node = a_node("n", ready=False, unschedulable=True, provider_id="fake://a-0", created=NOW - timedelta(minutes=1))
    world = a_world(groups=[a_group("a", size=1)], nodes={"a": [node]}, pods=[a_pod()])
    decision, memory = decide_on(world, ordered(1))
    assert decision.pods["default/web"].reason is Reason.FITS
    assert decision.nodes["n"].reason is Reason.NOT_STARTED
    assert memory.orders.requests["a"].count == 1
    alone, _ = decide_on(world)
    assert alone.grow, "it was not ordered here, and nothing is known about it"
    assert alone.nodes["n"].reason is not Reason.NOT_STARTED


def test_a_group_that_could_not_be_read_is_left_alone() -> None:
    broken = replace(a_group("a", size=1, instances=[creating("i-1", STOCK_OUT)]), error="HTTP 500")
    memory = Memory(
        health=HealthMemory(unregistered_since={"i-1": EPOCH}),
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=1)}),
    )
    memory = replace(
        memory,
        health=replace(
            memory.health, shortages={"a": Shortage(since=EPOCH, machines=1, target=2)}, failed_since={"i-1": EPOCH}
        ),
    )
    decision, after = decide_on(a_world(groups=[broken], pods=[a_pod()]), memory)
    assert decision.quiet
    assert str(decision.groups["a"]) == "it could not be read (HTTP 500)"
    assert after == memory


@pytest.mark.parametrize(("minutes", "upcoming"), [(1, {"a": 2}), (16, {})])
def test_what_a_group_that_could_not_be_read_was_asked_for_is_waited_for_as_long_as_ever(minutes, upcoming) -> None:
    world = a_world(groups=[replace(a_group("a"), target_size=2, error="HTTP 500")])
    _, _, findings = decide(world, ordered(2, at=NOW - timedelta(minutes=minutes)), a_policy(), NOW, in_depth=True)
    assert findings.upcoming == upcoming


def test_a_machine_being_deleted_does_not_count_for_what_was_ordered() -> None:
    group = replace(a_group("a", instances=[Instance(id="fake://a-0", state=InstanceState.DELETING)]), target_size=1)
    world = a_world(groups=[group], nodes={"a": [a_node("n", provider_id="fake://a-0", unschedulable=True)]})
    _, _, findings = decide(world, ordered(1), a_policy(), NOW, in_depth=True)
    assert findings.upcoming == {"a": 1}
    assert findings.readiness["a"] == Readiness(being_deleted=1)


@pytest.mark.parametrize("age", [timedelta(minutes=14), timedelta(minutes=16)])
def test_an_unready_node_is_starting_only_for_so_long(age) -> None:
    node = a_node("n", ready=False, provider_id="fake://a-0", created=NOW - age)
    world = a_world(groups=[a_group("a", size=1, max_size=1)], nodes={"a": [node]})
    decision, _ = decide_on(world, replace(ordered(1), unneeded=UnneededMemory(since={"n": EPOCH})))
    assert bool(decision.drain) == (age > timedelta(minutes=15))


def test_failed_and_overdue_machines_together_leave_the_minimum() -> None:
    failed = [creating(f"f{number}", STOCK_OUT) for number in range(2)]
    overdue = [creating(f"o{number}") for number in range(2)]
    world = a_world(groups=[a_group("a", size=4, min_size=2, instances=[*failed, *overdue])])
    long_ago = NOW - timedelta(hours=1)
    decision, _ = decide_on(world, Memory(health=HealthMemory(unregistered_since={"o0": long_ago, "o1": long_ago})))
    assert [delete.instances for delete in decision.delete] == [("o0", "o1")]


def test_what_was_ordered_before_is_still_waited_for_after_an_order_that_failed_for_the_moment() -> None:
    outcome = Outcome(at=NOW, action="grow", target="a", ok=False, error="throttled", temporary=True)
    world = a_world(groups=[replace(a_group("a"), target_size=2)], outcomes=[outcome])
    _, memory, findings = decide(world, ordered(3), a_policy(), NOW, in_depth=True)
    assert findings.upcoming == {"a": 2}
    assert "a" in memory.orders.requests
    refused = replace(world, outcomes=(replace(outcome, temporary=False),))
    _, _, findings = decide(refused, ordered(3), a_policy(), NOW, in_depth=True)
    assert findings.upcoming == {}


def test_the_size_of_a_group_without_machines_is_not_wrong_while_its_order_is_open() -> None:
    world = a_world(groups=[replace(a_group("a"), target_size=2)])
    _, memory = decide_on(world, ordered(2))
    decision, _ = decide_on(world, memory, NOW + timedelta(minutes=16))
    assert ([shrink.count for shrink in decision.shrink], decision.halted) == ([2], None)


def test_what_others_ordered_does_not_run_out_of_time_with_the_machines_that_came() -> None:
    world = a_world(groups=[replace(a_group("a", instances=[creating("i-1")]), target_size=2)])
    memory = replace(
        ordered(1, at=NOW - timedelta(minutes=16), ours=False), health=HealthMemory(unregistered_since={"i-1": NOW})
    )
    decision, _ = decide_on(world, memory)
    assert not decision.shrink


def test_machines_that_came_in_time_are_not_given_up_with_those_that_did_not() -> None:
    young = NOW - timedelta(minutes=1)
    nodes = [a_node("n", ready=False, unschedulable=True, provider_id="fake://a-0", created=young)]
    world = a_world(groups=[replace(a_group("a", size=1), target_size=3)], nodes={"a": nodes})
    decision, memory, findings = decide(
        world, ordered(3, at=NOW - timedelta(minutes=16)), a_policy(), NOW, in_depth=True
    )
    assert [shrink.count for shrink in decision.shrink] == [2]
    assert findings.upcoming == {"a": 1}
    assert not memory.orders.requests["a"].ours


def test_the_order_of_a_group_that_is_gone_is_forgotten_once_its_time_is_over() -> None:
    world, memory = a_world(groups=[a_group("b")]), ordered(1)
    _, memory = decide_on(world, memory, now=NOW + timedelta(minutes=15))
    assert memory.orders.requests.keys() == {"a"}
    _, memory = decide_on(world, memory, now=NOW + timedelta(minutes=15, seconds=1))
    assert memory.orders.requests == {}


def test_a_clock_that_is_set_back_does_not_lengthen_a_back_off() -> None:
    world = a_world(groups=[a_group("a")], pods=[a_pod()])
    refused = Outcome(at=NOW, action="grow", target="a", ok=False, error="no", cause=STOCK_OUT)
    _, memory = decide_on(replace(world, outcomes=(refused,)))
    assert memory.health.backoffs.keys() == {"a"}
    decision, _ = decide_on(world, memory, now=NOW - timedelta(minutes=30))
    assert [grow.group for grow in decision.grow] == ["a"]
