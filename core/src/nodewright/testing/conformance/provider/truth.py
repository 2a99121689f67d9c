"""The truth after an action that failed: what the cloud has, and what the provider says of it."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import pytest

from nodewright.api import Capability, InstanceState, NodeGroup, PartialIncreaseError, Provider
from nodewright.testing.conformance.cloud import Ability, Cloud
from nodewright.testing.conformance.provider.base import ProviderSuite, Restart, group_of, has_room, needs, with_spare
from nodewright.testing.conformance.provider.machines import starved


class _Action(StrEnum):
    """What may fail."""

    INCREASE = "increase"
    INCREASE_ATOMICALLY = "increase_atomically"
    DELETE = "delete_nodes"
    FORCE_DELETE = "force_delete_nodes"
    DECREASE = "decrease_target"

    @property
    def grows(self) -> bool:
        return self in (_Action.INCREASE, _Action.INCREASE_ATOMICALLY)


class _Fault(StrEnum):
    """How it may fail."""

    REFUSED = "refused"
    THROTTLED = "throttled"
    HALF_WAY = "cut off half way"
    LOST = "without an answer"
    IN_PART = "done in part"


#: What a provider has to declare for rarer actions.
_DECLARED = {
    _Action.INCREASE_ATOMICALLY: Capability.ATOMIC_INCREASE,
    _Action.FORCE_DELETE: Capability.FORCE_DELETE,
}
#: More machines than one, so that a part of an order may be left over.
_SEVERAL = 2


@dataclass(frozen=True, kw_only=True)
class _Mishap:
    """An action with the fault that befalls it."""

    action: _Action
    fault: _Fault

    def __str__(self) -> str:
        return f"{self.action} {self.fault}"

    @property
    def abilities(self) -> tuple[Ability, ...]:
        """What the cloud under test must be able to do for that; refusals are listed in `Cloud.refusals` instead."""
        needed = {
            _Fault.THROTTLED: Ability.THROTTLE,
            _Fault.HALF_WAY: Ability.BREAK_AFTER,
            _Fault.LOST: Ability.LOSE_ANSWER,
            _Fault.IN_PART: Ability.LIMIT if self.action.grows else Ability.DELETE_ONLY,
        }.get(self.fault)
        unmet = Ability.STARVE if self.action is _Action.DECREASE else None
        return tuple(each for each in (needed, unmet) if each is not None)

    @property
    def needs(self) -> tuple[str, ...]:
        """The same, as reports name it."""
        refusals = ("Cloud.refusals",) if self.fault is _Fault.REFUSED else ()
        return (*refusals, *(f"Ability.{ability.name}" for ability in self.abilities))

    def begin(self, cloud: Cloud, group: str) -> None:
        """Break the cloud."""
        match self.fault:
            case _Fault.REFUSED:
                cloud.refuse(group, min(cloud.refusals))
            case _Fault.THROTTLED:
                cloud.throttle()
            case _Fault.HALF_WAY:
                cloud.break_after(1)
            case _Fault.LOST:
                cloud.lose_answer()
            case _Fault.IN_PART:
                cloud.limit(group, 1) if self.action.grows else cloud.delete_only(1)


def _can_befall(action: _Action, fault: _Fault) -> bool:
    if fault is _Fault.REFUSED:
        return action.grows
    return fault is not _Fault.IN_PART or action is not _Action.DECREASE


_MISHAPS = [_Mishap(action=action, fault=fault) for action in _Action for fault in _Fault if _can_befall(action, fault)]


@needs(Ability.CHANGE)
class TruthConformance(ProviderSuite):
    """After an action that failed: the cloud, the provider, and a new one agree."""

    @pytest.mark.parametrize("mishap", _MISHAPS, ids=str)
    def test_after_a_failure_the_target_is_the_clouds(
        self, cloud: Cloud, provider: Provider, restart: Restart, mishap: _Mishap
    ) -> None:
        """After an action that failed, a refresh or a restart shows in `target_size` what the cloud is asked for."""
        group = _befallen(mishap, cloud, provider)
        wanted = cloud.target(group.id)
        provider.refresh()
        told = group_of(provider, group.id).target_size
        assert told == wanted, f"after {mishap} the cloud is asked for {wanted}, after a refresh target_size is {told}"
        told = group_of(restart(), group.id).target_size
        assert told == wanted, f"after {mishap} the cloud is asked for {wanted}, after a restart target_size is {told}"

    @pytest.mark.parametrize("mishap", _MISHAPS, ids=str)
    def test_after_a_failure_the_machines_are_the_clouds(
        self, cloud: Cloud, provider: Provider, restart: Restart, mishap: _Mishap
    ) -> None:
        """After an action that failed, a refresh or a restart shows in `instances` what is there, as it is."""
        group = _befallen(mishap, cloud, provider)
        provider.refresh()
        _shows_what_is_there(cloud, group_of(provider, group.id), f"after {mishap} and a refresh")
        _shows_what_is_there(cloud, group_of(restart(), group.id), f"after {mishap} and a restart")

    @pytest.mark.parametrize("mishap", _MISHAPS, ids=str)
    def test_a_failure_makes_nothing_up(self, cloud: Cloud, provider: Provider, mishap: _Mishap) -> None:
        """Right after an action that failed, `target_size` and `instances` are as read or as is true by now."""
        group, act = _prepared(mishap, cloud, provider)
        read, seen = group.target_size, {each.id for each in group.instances()}
        _fail(mishap, cloud, group, act)
        told, wanted = group.target_size, cloud.target(group.id)
        assert told in (read, wanted), (
            f"target_size was read as {read}, and after {mishap} the cloud is asked for {wanted}; it says {told}"
        )
        shown, there = {each.id: each.state for each in group.instances()}, cloud.machines(group.id)
        # What is being deleted may be left out.
        lost = sorted(id_ for id_ in (seen & there.keys()) - shown.keys() if there[id_].counted)
        assert not lost, f"right after {mishap} instances() does not show {', '.join(lost)}, which the cloud still has"
        running = {id_ for id_, state in shown.items() if state is InstanceState.RUNNING}
        made_up = sorted(running - seen - there.keys())
        assert not made_up, (
            f"right after {mishap} instances() shows {', '.join(made_up)} as running, which the cloud does not have"
        )

    @needs(Ability.LIMIT)
    @pytest.mark.parametrize("action", [_Action.INCREASE, _Action.INCREASE_ATOMICALLY], ids=str)
    def test_an_order_that_raised_keeps_nothing(self, cloud: Cloud, provider: Provider, action: _Action) -> None:
        """If the cloud has a part of an order and `increase` raises, it keeps none, or what its error says."""
        mishap = _Mishap(action=action, fault=_Fault.IN_PART)
        _need(mishap, cloud, provider)
        group = group_of(provider, cloud.group())
        before, machines = has_room(cloud, group, 3), set(cloud.machines(group.id))
        cloud.limit(group.id, 2)
        try:
            getattr(group, action)(3)
        except Exception as error:
            cloud.settle()
            after, more = cloud.target(group.id), sorted(set(cloud.machines(group.id)) - machines)
            told = f"the cloud had 2 of 3 machines, {action}(3) raised {error!r}"
            kept = error.increased if isinstance(error, PartialIncreaseError) else 0
            assert after == before + kept, f"{told}, and the cloud's target went from {before} to {after}"
            assert len(more) <= kept, f"{told}, and kept {', '.join(more)}"

    @needs(Ability.LOSE_ANSWER)
    def test_an_order_without_an_answer_stands_whole_or_not_at_all(self, cloud: Cloud, group: NodeGroup) -> None:
        """When an answer to `increase(2)` was lost, both stay ordered or, if it raises, both may be undone: not one."""
        before = has_room(cloud, group, _SEVERAL)
        cloud.lose_answer()
        allowed = {before + _SEVERAL}
        try:
            group.increase(_SEVERAL)
        except Exception:
            allowed.add(before)
        after = cloud.target(group.id)
        assert after in allowed, (
            f"increase({_SEVERAL}) of {before} machines got no answer; "
            f"the cloud is asked for {after}, not {' or '.join(map(str, sorted(allowed)))}"
        )


def _befallen(mishap: _Mishap, cloud: Cloud, provider: Provider) -> NodeGroup:
    """The group under test, not read again, after *mishap*; the cloud is healed."""
    group, act = _prepared(mishap, cloud, provider)
    _fail(mishap, cloud, group, act)
    return group


def _prepared(mishap: _Mishap, cloud: Cloud, provider: Provider) -> tuple[NodeGroup, Callable[[], None]]:
    """The group under test, and the action on it that is to fail; skip the test if the provider or the cloud can't."""
    _need(mishap, cloud, provider)
    match mishap.action:
        case _Action.DECREASE:
            starving, _ = starved(cloud, provider, 1)
            return starving, lambda: starving.decrease_target(1)
        case _Action.DELETE | _Action.FORCE_DELETE:
            group, nodes = with_spare(cloud, provider, _SEVERAL)
            return group, lambda: getattr(group, mishap.action)(nodes[:_SEVERAL])
        case _:
            group = group_of(provider, cloud.group())
            has_room(cloud, group, _SEVERAL)
            return group, lambda: getattr(group, mishap.action)(_SEVERAL)


def _need(mishap: _Mishap, cloud: Cloud, provider: Provider) -> None:
    if mishap.action is _Action.DECREASE and not cloud.keeps_target:
        pytest.skip("the cloud under test keeps no target: there is nothing that decrease_target asks of it")
    declared = _DECLARED.get(mishap.action)
    if declared is not None and declared not in provider.capabilities:
        pytest.skip(f"the provider does not declare {declared}")
    missing = [each for each in mishap.abilities if each not in cloud.abilities]
    if missing:
        pytest.skip(f"the cloud under test can't {missing[0]}")
    if mishap.fault is _Fault.REFUSED and not cloud.refusals:
        pytest.skip("the cloud under test can't refuse orders for any reason")


def _fail(mishap: _Mishap, cloud: Cloud, group: NodeGroup, act: Callable[[], None]) -> None:
    """Let the action fail; whether it raises, and what, is for other tests."""
    mishap.begin(cloud, group.id)
    with contextlib.suppress(Exception):
        act()
    cloud.heal()


def _shows_what_is_there(cloud: Cloud, group: NodeGroup, when: str) -> None:
    there = cloud.machines(group.id)
    shown = {each.id: each.state for each in group.instances() if each.error is None}
    missing = sorted(id_ for id_, state in there.items() if state.counted and id_ not in shown)
    assert not missing, f"{when} instances() does not show {', '.join(missing)}, which the cloud has"
    for id_ in sorted(there.keys() | shown.keys()):
        true, told = (known.get(id_, InstanceState.DELETING) for known in (there, shown))
        if InstanceState.RUNNING in (true, told):
            assert told is true, f"{when} {id_} is {true}, instances() shows it as {told}"
