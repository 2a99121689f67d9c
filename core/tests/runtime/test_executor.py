"""Decisions are carried out, and who fails is named."""

from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from nodewright.api import (
    Capability,
    CapacityError,
    Decision,
    DeleteInstances,
    ErrorClass,
    GroupOptions,
    Grow,
    InstanceError,
    NodeGroup,
    NotLeaderError,
    PartialIncreaseError,
    PluginConfig,
    Provider,
    ProviderContext,
    Reason,
    Shrink,
    ThrottledError,
    UnsupportedError,
    Verdict,
)
from nodewright.api.decision import SoftUntaint
from nodewright.kube.nodes import Evictor, NodeWriter, TaintLatency
from nodewright.plugins import Faults
from nodewright.runtime.executor import Executor
from nodewright.runtime.held import HeldGroups
from nodewright.runtime.providers import Providers
from nodewright.testing.clock import EPOCH, SteppedClock

SOON = timedelta(seconds=5)
SHORT = timedelta(milliseconds=20)
DRY = InstanceError(error_class=ErrorClass.STOCK_OUT, code="NoCapacity", message="no c5", pool="eu-a/c5")
WHY = Verdict(reason=Reason.CHOSEN)


class Group(NodeGroup):
    """A group that does what its test wants when it grows."""

    min_size = 0
    max_size = 5
    target_size = 0

    def __init__(self, name, do, calls):
        self.name = name
        self.do = do
        self.calls = calls

    @property
    def id(self):
        return self.name

    def instances(self):
        return ()

    def increase(self, count):
        self.calls.append(("increase", self.name, count))
        self.do()

    def increase_atomically(self, count):
        self.calls.append(("atomically", self.name, count))

    def delete_nodes(self, nodes):
        self.calls.append(("delete", self.name, len(nodes)))
        self.fail_to_delete()

    def fail_to_delete(self): ...

    def force_delete_nodes(self, nodes):
        self.do()
        self.calls.append(("force", self.name, len(nodes)))

    def decrease_target(self, count): ...


class Cloud(Provider):
    known = ()
    refreshed = 0

    def refresh(self):
        self.refreshed += 1

    def groups(self):
        return self.known

    def group_of(self, node):
        return None


class Acting:
    """An executor for groups of one cloud, and what they were called to do."""

    def __init__(self, *, parallel=True, timeout=SOON, atomic=False, permit=lambda: None, elsewhere=(), **groups):
        self.clock = clock = SteppedClock()
        self.calls = []
        self.faults = Faults(clock)
        self.clouds = {"cloud": Cloud(PluginConfig(), ProviderContext(clock=clock))}
        if elsewhere:
            self.clouds["other"] = Cloud(PluginConfig(), ProviderContext(clock=clock))
        for name, cloud in self.clouds.items():
            cloud.capabilities = frozenset([Capability.ATOMIC_INCREASE] if atomic else [])
            own = {group: do for group, do in groups.items() if (group in elsewhere) == (name == "other")}
            cloud.known = [Group(group, do, self.calls) for group, do in own.items()]
        self.providers = Providers(self.clouds, clock, self.faults)
        self.providers.read({}, GroupOptions(), SOON)
        self.held = HeldGroups()
        self.executor = Executor(
            self.providers,
            NodeWriter(None, TaintLatency(clock), cordon=False),
            Evictor(None),
            self.held,
            clock,
            self.faults,
            parallel=parallel,
            timeout=timeout,
            time_for_hints=SHORT,
            permit=permit,
        )

    def grow(self, *groups, **fields):
        return self.carry_out(
            grow=tuple(Grow(group=group, count=1, from_size=0, verdict=WHY, **fields) for group in groups)
        )

    def delete(self, group, *nodes):
        going = (DeleteInstances(group=group, instances=(name,), nodes=(name,), verdict=WHY) for name in nodes)
        return self.carry_out(delete=tuple(going))

    def read(self):
        return {facts.id: facts.error for facts in self.providers.read({}, GroupOptions(), SOON).groups}

    def carry_out(self, **actions):
        return self.executor.carry_out(Decision(at=EPOCH, **actions), {})


@pytest.fixture
def acting():
    """Makes executors, and ends them after the test."""
    made = []

    def make(**fields):
        made.append(Acting(**fields))
        return made[-1]

    yield make
    for each in made:
        each.executor.close()
        each.providers.close()


@pytest.fixture
def release():
    """Lets calls that wait for it end; at the latest when the test ends."""
    event = Event()
    yield event
    event.set()


def raising(error):
    def fail():
        raise error

    return fail


def nothing(): ...


def told(execution):
    return [(outcome.target, outcome.ok) for outcome in execution.outcomes]


def test_a_group_that_raises_what_it_must_not_is_its_providers_fault(acting) -> None:
    act = acting(pool=raising(KeyError("flavour")))
    noted = []
    act.faults.listen(noted.append)
    (outcome,) = act.grow("pool").outcomes
    assert (outcome.action, outcome.target, outcome.ok, outcome.temporary) == ("grow", "pool", False, False)
    assert "flavour" in outcome.error
    assert [(fault.plugin, fault.where) for fault in noted] == [("cloud", "increase")]
    assert noted[0].error == "group pool: KeyError: 'flavour'"


def test_what_the_cloud_says_of_missing_capacity_is_kept_whole(acting) -> None:
    (outcome,) = acting(pool=raising(CapacityError(DRY))).grow("pool").outcomes
    assert (outcome.cause, outcome.temporary) == (DRY, False)


@pytest.mark.parametrize("changes", [{"error_class": "StockOut"}, {"code": 3}, {"pool": None}])
def test_a_cause_of_wrong_types_is_the_fault_of_the_provider_and_left_out(acting, changes) -> None:
    act = acting(pool=raising(CapacityError(replace(DRY, **changes))))
    (outcome,) = act.grow("pool").outcomes
    assert (outcome.ok, outcome.cause) == (False, None)
    assert {plugin for plugin, _ in act.faults.counts} == {"cloud"}


def test_what_a_refused_order_got_all_the_same_is_told_with_the_cause(acting) -> None:
    executor = acting(a=raising(PartialIncreaseError(2, CapacityError(DRY))))
    (outcome,) = executor.grow("a").outcomes
    assert (outcome.ok, outcome.increased, outcome.cause, outcome.temporary) == (False, 2, DRY, False)
    assert outcome.error == f"only 2 more machines were ordered: {CapacityError(DRY)}"


def test_an_order_that_was_partly_taken_before_the_cloud_asked_for_fewer_calls_is_in_no_doubt(acting) -> None:
    executor = acting(a=raising(PartialIncreaseError(2, ThrottledError("slow", retry_after=60))))
    done = executor.grow("a")
    (outcome,) = done.outcomes
    assert (outcome.increased, outcome.not_before) == (2, EPOCH + timedelta(minutes=1))
    assert (done.doubts, done.sizes) == ({}, {"a": 2})


@pytest.mark.parametrize(
    "error",
    [
        PartialIncreaseError(-1, CapacityError(DRY)),
        PartialIncreaseError("two", CapacityError(DRY)),
        PartialIncreaseError(2, OSError("no room")),
        PartialIncreaseError(2, CapacityError(replace(DRY, code=7))),
    ],
)
def test_a_part_without_a_count_and_a_cause_is_the_fault_of_the_provider(acting, error) -> None:
    executor = acting(a=raising(error))
    (outcome,) = executor.grow("a").outcomes
    assert (outcome.ok, outcome.increased, outcome.cause) == (False, 0, None)
    assert executor.faults.counts


def test_an_error_without_words_is_named_by_its_kind(acting) -> None:
    (outcome,) = acting(pool=raising(ThrottledError(""))).grow("pool").outcomes
    assert (outcome.error, outcome.temporary) == ("ThrottledError", True)


def slower(seconds=None):
    return raising(ThrottledError("too many calls", retry_after=seconds))


def waits(execution):
    """Until when each action that was not done has to wait, in seconds; None if nobody said."""
    return {
        each.target: None if each.not_before is None else (each.not_before - EPOCH).total_seconds()
        for each in execution.outcomes
        if not each.ok
    }


def test_a_group_whose_cloud_asked_for_fewer_orders_gets_none_before_the_time_that_it_named(acting) -> None:
    act = acting(a=slower(30))
    (outcome,) = act.grow("a").outcomes
    assert (outcome.group, outcome.tried, outcome.temporary) == ("a", True, True)
    assert outcome.not_before == EPOCH + timedelta(seconds=30)
    act.clock.advance(28)
    (outcome,) = act.grow("a").outcomes
    assert outcome.error == "not tried: cloud asked for fewer calls until 00:00:30"
    assert (outcome.group, outcome.tried, outcome.temporary) == ("a", False, True)
    assert outcome.not_before == EPOCH + timedelta(seconds=30)
    assert len(act.calls) == 1
    act.clock.advance(2)
    act.grow("a")
    assert len(act.calls) == 2


def test_what_else_a_throttled_group_is_to_do_waits_for_a_moment_only(acting) -> None:
    act = acting(a=slower(30))
    act.grow("a")
    assert waits(act.delete("a", "n")) == {"n": None}
    act.clock.advance(1)
    assert told(act.delete("a", "n")) == [("n", True)]


def test_after_a_refusal_nobody_asks_the_same_cloud_for_a_moment_and_another_one_goes_on(acting) -> None:
    act = acting(a=slower(), b=nothing, far=nothing, elsewhere=("far",))
    assert waits(act.grow("a")) == {"a": None}
    before = {name: cloud.refreshed for name, cloud in act.clouds.items()}
    execution = act.grow("b", "far")
    assert told(execution) == [("b", False), ("far", True)]
    assert execution.outcomes[0].error == "not tried: cloud asked for fewer calls until 00:00:01"
    why = "cloud asked for fewer calls: asked again at 00:00:01"
    assert act.read() == {"a": why, "b": why, "far": ""}
    assert [cloud.refreshed - before[name] for name, cloud in act.clouds.items()] == [0, 1]
    act.clock.advance(1)
    assert act.read() == {"a": "", "b": "", "far": ""}
    assert told(act.grow("b")) == [("b", True)]


def test_a_group_is_not_asked_to_delete_more_in_the_same_loop(acting) -> None:
    act = acting(a=nothing)
    act.providers.group("a").fail_to_delete = slower(20)
    assert waits(act.delete("a", "n1", "n2")) == {"n1": 20, "n2": 20}
    assert act.calls == [("delete", "a", 1)]


def test_a_cloud_that_asked_to_be_read_less_is_asked_for_nothing_else_either(acting) -> None:
    act = acting(a=nothing)
    act.clouds["cloud"].refresh = slower(30)
    assert act.read() == {"a": "cloud asked for fewer calls (too many calls): asked again at 00:00:30"}
    act.clock.advance(28)
    assert waits(act.grow("a")) == {"a": 30}
    assert act.calls == []


@pytest.mark.parametrize(
    "action", ["increase", "increase_atomically", "delete_nodes", "force_delete_nodes", "decrease_target"]
)
def test_every_action_may_be_throttled(acting, action) -> None:
    act = acting(atomic=True, a=nothing)
    calls = []

    def refuse(*arguments):
        calls.append(arguments)
        slower(30)()

    setattr(act.providers.group("a"), action, refuse)
    decisions = {
        "increase": {"grow": (Grow(group="a", count=1, from_size=0, verdict=WHY),)},
        "increase_atomically": {"grow": (Grow(group="a", count=1, from_size=0, atomic=True, verdict=WHY),)},
        "delete_nodes": {"delete": (DeleteInstances(group="a", instances=("i",), verdict=WHY),)},
        "force_delete_nodes": {"delete": (DeleteInstances(group="a", instances=("i",), force=True, verdict=WHY),)},
        "decrease_target": {"shrink": (Shrink(group="a", count=1, verdict=WHY),)},
    }
    for _ in range(2):
        assert waits(act.carry_out(**decisions[action])) == {"a": 30}
        act.clock.advance(2)
    assert len(calls) == 1


def test_a_group_that_would_end_the_process_fails_like_any_other(acting) -> None:
    act = acting(a=raising(SystemExit(3)), b=nothing)
    assert told(act.grow("a", "b")) == [("a", False), ("b", True)]
    assert act.faults.counts == {("cloud", "increase"): 1}


@pytest.mark.parametrize(
    ("action", "fields"), [("increase", {}), ("increase_atomically", {"atomic": True}), ("delete_nodes", {})]
)
def test_a_fault_is_said_to_be_in_the_method_that_failed(acting, action, fields) -> None:
    act = acting(atomic=True, a=nothing)
    setattr(act.providers.group("a"), action, lambda *arguments: {}["flavour"])
    _ = act.delete("a", "n") if action == "delete_nodes" else act.grow("a", **fields)
    assert act.faults.counts == {("cloud", action): 1}


def test_groups_grow_at_the_same_time(acting) -> None:
    here, there = Event(), Event()

    def meet(mine, other):
        mine.set()
        assert other.wait(5)

    act = acting(a=lambda: meet(here, there), b=lambda: meet(there, here))
    assert told(act.grow("a", "b")) == [("a", True), ("b", True)]


def test_serial_growth_stops_at_the_first_failure(acting) -> None:
    act = acting(parallel=False, a=nothing, b=raising(CapacityError(DRY)), c=nothing)
    execution = act.grow("a", "b", "c")
    assert told(execution) == [("a", True), ("b", False)]
    assert act.calls == [("increase", "a", 1), ("increase", "b", 1)]
    assert execution.undone == {"b", "c"}


@pytest.mark.parametrize(("able", "call"), [(True, "atomically"), (False, "increase")])
def test_growth_in_one_piece_is_asked_for_where_the_provider_can(acting, able, call) -> None:
    act = acting(atomic=able, a=nothing)
    act.grow("a", atomic=True)
    assert act.calls == [(call, "a", 1)]


def test_a_group_is_called_once_at_a_time(acting) -> None:
    act = acting(a=nothing)
    deletes = tuple(
        DeleteInstances(group="a", instances=(f"i-{number}",), nodes=(f"n-{number}",), verdict=WHY)
        for number in range(20)
    )
    assert told(act.carry_out(delete=deletes)) == [(f"n-{number}", True) for number in range(20)]
    assert act.calls == [("delete", "a", 1)] * 20


def test_a_group_that_does_not_answer_is_held_until_it_does(acting, release, caplog) -> None:
    act = acting(timeout=SHORT, slow=lambda: release.wait(10), quick=nothing)
    execution = act.grow("slow", "quick")
    assert told(execution) == [("quick", True)]
    assert execution.held["slow"].size == 1
    assert execution.undone == frozenset()
    assert (
        "group slow is left alone until the cloud answers: the cloud has not answered its last order (grow)"
        in caplog.text
    )
    assert (act.executor.late_outcomes(), act.held.under_way.keys()) == ((), {"slow"})
    release.set()
    wait = Event()
    while not (ended := act.executor.late_outcomes()):
        wait.wait(0.01)
    assert [(outcome.target, outcome.ok) for outcome in ended] == [("slow", True)]
    assert act.held.under_way == {}


def test_a_group_that_is_gone_fails_for_good(acting) -> None:
    (outcome,) = acting().grow("gone").outcomes
    assert (outcome.error, outcome.temporary) == ("no provider has a group 'gone' any more", False)


@pytest.mark.parametrize(
    ("force", "unforceable", "how"),
    [
        (False, None, "delete"),
        (True, None, "force"),
        (True, UnsupportedError("not this group"), "delete"),
        (True, NotImplementedError(), "delete"),
    ],
)
def test_deletion_is_forced_where_the_group_can_be_forced(acting, force, unforceable, how) -> None:
    act = acting(a=raising(unforceable) if unforceable else nothing)
    delete = DeleteInstances(group="a", instances=("i-1",), force=force, verdict=WHY)
    assert [ok for _, ok in told(act.carry_out(delete=(delete,)))] == [True]
    assert act.calls == [(how, "a", 1)]


def test_what_is_not_permitted_any_more_is_not_tried_and_has_no_outcome(acting) -> None:
    permits = [True, False]

    def permit():
        if not permits.pop(0):
            raise NotLeaderError("the lease is lost")

    act = acting(permit=permit, a=nothing)
    deletes = tuple(
        DeleteInstances(group="a", instances=(f"i-{number}",), nodes=(f"n-{number}",), verdict=WHY)
        for number in range(2)
    )
    execution = act.carry_out(delete=deletes)
    assert told(execution) == [("n-0", True)]
    assert act.calls == [("delete", "a", 1)]
    assert permits == []


def test_growth_that_is_not_permitted_counts_as_undone(acting) -> None:
    execution = acting(permit=raising(NotLeaderError("the lease is lost")), a=nothing).grow("a")
    assert execution.outcomes == ()
    assert execution.undone == {"a"}


def test_a_hint_that_is_not_permitted_is_not_worth_a_word(acting, caplog) -> None:
    act = acting(permit=raising(NotLeaderError("the lease is lost")))
    act.carry_out(soft_untaint=(SoftUntaint(node="n"),))
    assert caplog.text == ""
