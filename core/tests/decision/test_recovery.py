"""What an earlier process left unanswered follows from what the cluster and the cloud show."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import DeleteInstances, Instance, InstanceState, Reason, Taint, Verdict
from nodewright.api.decision import Decision, Drain, Grow
from nodewright.config.model import ScaleDown
from nodewright.decision.execution import Hold, to_be_kept
from nodewright.decision.memory import Memory, OrderMemory, Removal, RemovalMemory, ScaleUpRequest, UnneededMemory
from nodewright.decision.recovery import adopt, recover
from nodewright.testing.builders import a_group, a_node
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_world

SOON = EPOCH + timedelta(seconds=5)
LATER = EPOCH + timedelta(seconds=15)
ORDERED = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=2, unanswered=3)}))
MARK = Taint(key="ToBeDeletedByClusterAutoscaler", value="0")


def a_world_of(size, **fields):
    return a_world(groups=[replace(a_group("a", size=1), target_size=size, **fields)])


def a_removal(*, deleted=False, unanswered=True):
    return Removal(
        group="a",
        provider_id="fake://a-0",
        started=EPOCH,
        deleted_at=EPOCH if deleted else None,
        unanswered=unanswered,
    )


def removed(removal, *, now=SOON, state=InstanceState.RUNNING, taints=(), listed=True):
    """The removal after a look at its node and its machine."""
    group = a_group("a", size=1, instances=(Instance(id="fake://a-0", state=state),) if listed else ())
    world = a_world(groups=[group], nodes={"a": [a_node("n", provider_id="fake://a-0", taints=taints)]})
    _, memory = recover(world, Memory(leaving=RemovalMemory(removals={"n": removal})), now)
    return memory.leaving.removals.get("n")


@pytest.mark.parametrize("now", [SOON, EPOCH - timedelta(seconds=30)], ids=["soon", "by a clock that is behind"])
def test_a_group_that_may_still_take_its_order_is_held(now) -> None:
    world, memory = recover(a_world_of(1), ORDERED, now)
    (group,) = world.groups
    assert group.target_size == 3
    assert group.error == "an order of size 3 was under way when its process ended: it may count until 00:00:15"
    assert memory.orders.requests == ORDERED.orders.requests


@pytest.mark.parametrize(("size", "now"), [(3, SOON), (4, SOON), (1, LATER), (1, EPOCH - timedelta(hours=1))])
def test_it_goes_on_once_the_order_shows_or_can_not_any_more(size, now) -> None:
    world, memory = recover(a_world_of(size), ORDERED, now)
    assert (world.groups[0].error, world.groups[0].target_size) == ("", size)
    assert memory.orders.requests["a"] == ScaleUpRequest(at=EPOCH, count=2)


def test_of_a_group_that_can_not_be_read_nothing_is_settled() -> None:
    world, memory = recover(a_world_of(1, error="away"), ORDERED, LATER)
    assert world.groups[0].error == "away"
    assert memory == ORDERED


def test_without_anything_unanswered_nothing_is_touched() -> None:
    world, memory = a_world_of(1), Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=2)}))
    settled = recover(world, memory, SOON)
    assert settled[0] is world
    assert settled[1] is memory


def test_a_removal_whose_node_was_never_marked_is_forgotten() -> None:
    assert removed(a_removal()) is None
    assert removed(a_removal(), taints=(MARK,)) == a_removal(unanswered=False)


def test_a_deletion_that_the_cloud_knows_nothing_of_is_done_again_a_moment_later() -> None:
    early = EPOCH + timedelta(seconds=4)
    assert removed(a_removal(deleted=True), taints=(MARK,), now=early) == a_removal(deleted=True)
    assert removed(a_removal(deleted=True), taints=(MARK,)) == a_removal(unanswered=False)
    known = a_removal(deleted=True, unanswered=False)
    assert removed(a_removal(deleted=True), taints=(MARK,), state=InstanceState.DELETING) == known
    assert removed(a_removal(deleted=True), taints=(MARK,), listed=False) == known


def test_a_timer_is_not_taken_over_by_a_younger_node_of_the_same_name() -> None:
    nodes = {"a": [a_node("old", created=EPOCH), a_node("new", created=LATER), a_node("ageless")]}
    since = {"old": SOON, "new": SOON, "ageless": SOON, "elsewhere": SOON}
    world = a_world(groups=[a_group("a")], nodes=nodes)
    memory = adopt(world, Memory(unneeded=UnneededMemory(since=since)), ScaleDown(), LATER)
    assert memory.unneeded.since.keys() == {"old", "ageless", "elsewhere"}


VERDICT = Verdict(reason=Reason.EMPTY)


def test_what_is_about_to_be_done_is_kept_as_unanswered() -> None:
    memory = Memory(
        orders=OrderMemory(requests={name: ScaleUpRequest(at=EPOCH, count=2) for name in "abc"}),
        leaving=RemovalMemory(removals={name: a_removal(unanswered=False) for name in ("marked", "deleted", "other")}),
    )
    decision = Decision(
        at=EPOCH,
        grow=(Grow(group="a", count=2, from_size=1, verdict=VERDICT),),
        drain=(Drain(node="marked", group="a", pods=(), verdict=VERDICT),),
        delete=(DeleteInstances(group="a", instances=("i",), nodes=("deleted",), verdict=VERDICT),),
    )
    kept = to_be_kept(memory, {"b": Hold(why="late", size=7), "c": Hold(why="a deletion")}, decision)
    assert {name: each.unanswered for name, each in kept.orders.requests.items()} == {"a": 3, "b": 7, "c": 0}
    assert {name for name, each in kept.leaving.removals.items() if each.unanswered} == {"marked", "deleted"}
    assert to_be_kept(memory, {}) is memory
