"""The pipeline of a decision: stages run one after the other, each on what the ones before it returned."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cached_property
from typing import TypeVar, get_type_hints

from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World

T = TypeVar("T")

_SLICES = {each.name: get_type_hints(Memory)[each.name] for each in fields(Memory)}
#: What every pipeline begins with.
_GIVEN: frozenset[type] = frozenset([World, Policy, datetime, *_SLICES.values()])
#: The function in Cluster Autoscaler's metrics that the time of a stage counts for.
_TIMED_AS = {
    "templates": "updateClusterState",
    "health": "updateClusterState",
    "removals": "scaleDown",
    "forecast": "scaleUp",
    "growth": "scaleUp",
}
#: What a stage hands on in the fields of its result: later stages read it in place of what was there before.
_HANDED_ON: frozenset[type] = frozenset([World, *_SLICES.values()])


@dataclass(frozen=True)
class Stage:
    """A step of a decision: a function whose parameters are what it reads, by type, and whose result is what it found.

    A result is a value of a type of its own. Its fields that are a `World` or a slice of memory replace those of before
    for all later stages. Nothing else is handed on, except that stages share one simulation of the cluster: `Forecast`
    and `ExistingNodes` say in which state it is, so a stage that needs one of the two reads it.
    """

    name: str
    run: Callable[..., object]
    #: What it does, and why it stands where it stands.
    why: str

    @cached_property
    def reads(self) -> dict[str, type]:
        """What it wants to be given: types by name of parameter."""
        hints = get_type_hints(self.run)
        return {name: hints[name] for name in inspect.signature(self.run).parameters}

    @cached_property
    def gives(self) -> type:
        """The type of its result."""
        found: type = get_type_hints(self.run)["return"]
        return found

    @property
    def writes(self) -> frozenset[type]:
        """What it changes for the stages after it: the world, or slices of memory."""
        if self.gives is World:
            return frozenset([World])
        return _HANDED_ON.intersection(get_type_hints(self.gives).values())


def in_order(*stages: Stage, after: Sequence[Stage] = ()) -> tuple[Stage, ...]:
    """Return *stages*, which run *after* others, once it is sure that each finds what it reads.

    Raises `TypeError` that names the stage if not: the order is wrong, or a stage is missing.
    """
    there = {*_GIVEN, *(stage.gives for stage in after)}
    for stage in stages:
        for name, kind in stage.reads.items():
            if kind not in there:
                raise TypeError(f"stage {stage.name!r} reads {name}: {kind.__name__}, which no stage before it gives")
        if stage.gives in there and stage.gives is not World:
            raise TypeError(f"stage {stage.name!r} gives {stage.gives.__name__}, as another one does")
        there.add(stage.gives)
    return stages


class Pipeline:
    """One decision on its way. For the loop's thread."""

    def __init__(self, world: World, memory: Memory, policy: Policy, now: datetime) -> None:
        self._policy = policy
        self._values: dict[type, object] = {World: world, Policy: policy, datetime: now}
        self._values |= {type(each): each for each in memory.slices().values()}

    def run(self, *stages: Stage) -> None:
        """Run *stages* in their order."""
        for stage in stages:
            timed_as = _TIMED_AS.get(stage.name)
            with self._policy.timings.time(timed_as) if timed_as else nullcontext():
                result = stage.run(**{name: self._values[kind] for name, kind in stage.reads.items()})
            self._values[stage.gives] = result
            if stage.gives is not World:
                self._hand_on(result)

    def found(self, kind: type[T]) -> T:
        """Return what a stage has given; raises `KeyError` if none did."""
        value = self._values[kind]
        assert isinstance(value, kind)
        return value

    @property
    def memory(self) -> Memory:
        """Every slice as the last stage that changed it has left it."""
        return Memory(**{name: self._values[kind] for name, kind in _SLICES.items()})  # type: ignore[arg-type]

    def _hand_on(self, result: object) -> None:
        for each in fields(result):  # type: ignore[arg-type]
            value = getattr(result, each.name)
            if type(value) in _HANDED_ON:
                self._values[type(value)] = value
