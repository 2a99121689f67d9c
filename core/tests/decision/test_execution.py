"""The execution of a decision: the world and the memory after it, and what grows instead."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api import (
    Decision,
    DeleteInstances,
    ErrorClass,
    Grow,
    Instance,
    InstanceError,
    InstanceState,
    Outcome,
    Reason,
    Shrink,
    Verdict,
)
from nodewright.config.model import Settings
from nodewright.decision.decide import decide, decide_growth
from nodewright.decision.execution import Execution, Hold
from nodewright.decision.memory import (
    Changes,
    CooldownMemory,
    Memory,
    OrderMemory,
    Removal,
    RemovalMemory,
    ScaleUpRequest,
)
from nodewright.testing.builders import a_group, a_node, a_pod, a_template
from nodewright.testing.clock import EPOCH
from nodewright.testing.worlds import a_policy, a_world

NOW = EPOCH + timedelta(hours=1)
EARLIER = NOW - timedelta(minutes=5)
WHY = Verdict(reason=Reason.CHOSEN)
DRY = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NoCapacity", message="no c5 in eu-a", pool="eu-a/c5")


def grow(group, count=1, from_size=0):
    return Grow(group=group, count=count, from_size=from_size, verdict=WHY)


def outcome(action, target, *, ok=True, temporary=False, cause=None):
    error = "" if ok else "no"
    return Outcome(at=NOW, action=action, target=target, ok=ok, error=error, temporary=temporary, cause=cause)


def refused(group, cause=DRY):
    return outcome("grow", group, ok=False, cause=cause)


def throttled(group):
    return outcome("grow", group, ok=False, temporary=True)


def after(*outcomes, held=None, **actions):
    return Execution(decision=Decision(at=NOW, **actions), outcomes=outcomes, held=held or {})


def sizes(world):
    return {facts.id: facts.target_size for facts in world.groups}


def test_groups_have_the_sizes_that_were_accepted() -> None:
    world = a_world(groups=[a_group("a", size=3), a_group("b", size=3), a_group("c", size=3), a_group("d", size=3)])
    shrinks = tuple(Shrink(group=group, count=1, verdict=WHY) for group in "cd")
    done = after(
        outcome("grow", "a"),
        refused("b"),
        outcome("shrink", "c"),
        outcome("shrink", "d", ok=False),
        grow=(grow("a", 2, 3), grow("b", 2, 3)),
        shrink=shrinks,
    )
    assert sizes(done.world(world)) == {"a": 5, "b": 3, "c": 2, "d": 3}
    assert done.sizes == {"a": 2, "c": -1}


def test_a_machine_that_was_deleted_counts_neither_as_there_nor_as_failed() -> None:
    broken = Instance(id="i-1", state=InstanceState.CREATING, error=DRY)
    world = a_world(groups=[a_group("a", size=2, instances=[broken])])
    delete = DeleteInstances(group="a", instances=("i-1",), verdict=WHY)
    (facts,) = after(outcome("delete-instances", "a"), delete=(delete,)).world(world).groups
    assert facts.target_size == 1
    assert facts.instances == (replace(broken, state=InstanceState.DELETING, error=None),)
    (facts,) = after(outcome("delete-instances", "a", ok=False), delete=(delete,)).world(world).groups
    assert (facts.target_size, facts.instances) == (2, (broken,))


@pytest.mark.parametrize(
    "done",
    [
        after(throttled("a"), grow=(grow("a", 2, 3),)),
        after(grow=(grow("a", 2, 3),), held={"a": Hold(why="no answer", size=5)}),
    ],
)
def test_a_group_that_may_have_taken_its_order_is_counted_as_if_and_left_alone(done) -> None:
    (facts,) = done.world(a_world(groups=[a_group("a", size=3)])).groups
    assert facts.target_size == 5
    assert facts.error
    assert done.undone == frozenset()


def test_what_was_refused_or_not_tried_is_undone_and_no_longer_remembered() -> None:
    before = Memory(
        orders=OrderMemory(requests={"b": ScaleUpRequest(at=EARLIER, count=1)}),
        cooldown=CooldownMemory(cluster=Changes(grown=EARLIER)),
    )
    asked = {group: ScaleUpRequest(at=NOW, count=3) for group in "abc"}
    memory = replace(
        before,
        orders=before.orders.followed(asked),
        cooldown=CooldownMemory(cluster=Changes(grown=NOW)),
    )
    done = after(outcome("grow", "a"), refused("b"), grow=(grow("a", 3), grow("b", 2), grow("c", 3)))
    assert done.undone == {"b", "c"}
    remembered = done.memory(memory, before)
    assert remembered.orders.requests == {"a": asked["a"], "b": before.orders.requests["b"]}
    assert remembered.cooldown.cluster.grown == NOW


@pytest.mark.parametrize("came", [refused("a"), throttled("a")])
def test_growth_that_failed_does_not_put_scale_down_off(came) -> None:
    before = Memory(cooldown=CooldownMemory(cluster=Changes(grown=EARLIER)))
    memory = Memory(
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=1)}),
        cooldown=CooldownMemory(cluster=Changes(grown=NOW)),
    )
    assert after(came, grow=(grow("a"),)).memory(memory, before).cooldown.cluster.grown == EARLIER


@pytest.mark.parametrize("came", [refused("a"), throttled("a")])
def test_growth_that_failed_does_not_put_off_the_scale_down_of_its_group(came) -> None:
    before = Memory(cooldown=CooldownMemory(groups={"a": Changes(grown=EARLIER, stuck=EARLIER)}))
    memory = Memory(cooldown=CooldownMemory(groups={"a": Changes(grown=NOW, stuck=EARLIER), "b": Changes(grown=NOW)}))
    done = after(came, outcome("grow", "b"), grow=(grow("a"), grow("b")))
    assert done.memory(memory, before).cooldown.groups == {
        "a": Changes(grown=EARLIER, stuck=EARLIER),
        "b": Changes(grown=NOW),
    }


def partly(group, increased, **fields):
    return replace(outcome("grow", group, ok=False, **fields), increased=increased)


@pytest.mark.parametrize(
    "came", [partly("a", 2, cause=DRY), partly("a", 2, temporary=True)], ids=["refused for good", "for the moment"]
)
def test_what_a_refused_order_got_all_the_same_counts_and_only_that(came) -> None:
    before = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=EARLIER, count=1)}))
    memory = replace(
        before,
        orders=before.orders.followed({"a": ScaleUpRequest(at=NOW, count=6)}),
        cooldown=CooldownMemory(cluster=Changes(grown=NOW)),
    )
    done = after(came, grow=(grow("a", 5, 3),))
    (facts,) = done.world(a_world(groups=[replace(a_group("a", size=3), available=9)])).groups
    assert (facts.target_size, facts.available, facts.error) == (5, 7, "")
    assert (done.sizes, done.undone, done.doubts) == ({"a": 2}, {"a"}, {})
    remembered = done.memory(memory, before)
    assert remembered.orders.requests == {"a": ScaleUpRequest(at=NOW, count=3)}
    assert remembered.cooldown.cluster.grown == NOW


class TestWhatElseGrows:
    def go_on(self, world, *outcomes, memory=None, settings=None, held=None):
        """Decide, let the outcomes come of it, and decide what else grows."""
        before, policy = memory or Memory(), a_policy(settings)
        decision, memory, _ = decide(world, before, policy, NOW)
        done = Execution(decision=decision, outcomes=outcomes, held=held or {})
        return decision, *decide_growth(done.world(world), done.memory(memory, before), policy, NOW)[:2]

    def test_pods_of_a_group_that_was_refused_go_to_the_next_best(self) -> None:
        world = a_world(groups=[a_group("a"), a_group("b", template=a_template(cpu="16"))], pods=[a_pod(cpu="3")])
        first, second, memory = self.go_on(world, refused("a"))
        assert [each.group for each in first.grow] == ["a"]
        assert [(each.group, each.count) for each in second.grow] == [("b", 1)]
        assert second.groups["a"].reason is Reason.GROUP_BACKED_OFF
        assert memory.orders.requests.keys() == {"b"}
        assert (memory.health.backoffs["a"].code, memory.cooldown.cluster.grown) == ("NoCapacity", NOW)

    def test_pods_that_a_part_of_an_order_has_no_room_for_go_to_the_next_best(self) -> None:
        pods = [a_pod(f"p{number}", cpu="3") for number in range(3)]
        world = a_world(groups=[a_group("a"), a_group("b", template=a_template(cpu="16"))], pods=pods)
        first, second, memory = self.go_on(world, partly("a", 2, cause=DRY))
        assert [(each.group, each.count) for each in first.grow] == [("a", 3)]
        assert [(each.group, each.count) for each in second.grow] == [("b", 1)]
        assert {group: request.count for group, request in memory.orders.requests.items()} == {"a": 2, "b": 1}
        assert memory.health.backoffs["a"].code == "NoCapacity"

    def test_pods_of_a_group_that_fails_for_the_moment_wait_for_it(self) -> None:
        world = a_world(groups=[a_group("a"), a_group("b", template=a_template(cpu="16"))], pods=[a_pod(cpu="3")])
        _, second, memory = self.go_on(world, throttled("a"))
        assert second.quiet
        assert second.pods["default/web"].reason is Reason.FITS
        assert memory.health.backoffs == {}
        assert memory.orders.requests.keys() == {"a"}

    def test_nothing_but_growth_is_decided_and_removals_go_on(self) -> None:
        idle = a_node("idle", provider_id="fake://b-0")
        world = a_world(
            groups=[a_group("a"), a_group("b", size=1, max_size=1), a_group("c", template=a_template(cpu="16"))],
            nodes={"b": [idle]},
            pods=[a_pod(cpu="4", memory="1Gi"), a_pod("more", cpu="4", memory="1Gi")],
        )
        going = Removal(group="b", provider_id="fake://b-0", started=NOW)
        first, second, memory = self.go_on(
            world, refused("a"), memory=Memory(leaving=RemovalMemory(removals={"idle": going}))
        )
        assert [each.group for each in first.grow] == ["a"]
        assert [each.group for each in second.grow] == ["c"]
        assert replace(second, grow=()).quiet
        assert memory.leaving.removals == {"idle": going}

    def test_the_limit_on_nodes_counts_what_was_accepted_and_what_may_have_been(self) -> None:
        settings = Settings.model_validate({"limits": {"nodes": {"max": 2}}})
        world = a_world(groups=[a_group("a"), a_group("b")], pods=[a_pod(f"p{number}", cpu="4") for number in range(4)])
        for came in (outcome, throttled):
            done = came("grow", "a") if came is outcome else came("a")
            policy = a_policy(settings)
            happened = Execution(decision=Decision(at=NOW, grow=(grow("a", 2),)), outcomes=(done,))
            memory = Memory(orders=OrderMemory(requests={"a": ScaleUpRequest(at=NOW, count=2)}))
            decision, _, _ = decide_growth(happened.world(world), memory, policy, NOW)
            assert decision.grow == ()
