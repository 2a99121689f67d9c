"""Rehearsals: a scenario is decided about as often as it says, and nothing is done but to its picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from time import perf_counter

from nodewright.api.hookspecs import hookimpl
from nodewright.api.option import Option
from nodewright.api.plugin import Plugin
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.explain.explanation import Look
from nodewright.scenario.scenario import Scenario, carry_out

#: A decision is timed so often,
_RUNS = 5
#: unless that takes more than so many seconds.
_PATIENCE = 0.5


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One iteration: what was decided, and what the expanders could choose from."""

    look: Look
    options: tuple[Option, ...]
    #: How long the decision takes as the loop makes it: without a closer look, and not for the first time.
    seconds: float


def rehearse(scenario: Scenario, policy: Policy) -> Iterator[Rehearsed]:
    """Decide about *scenario* by *policy* and yield each iteration; the last is the first in which a node goes.

    Between iterations groups get the sizes that were asked for, and no machine comes or goes.
    """
    world, memory = scenario.world(), scenario.memory
    for index in range(scenario.iterations):
        rehearsed = rehearse_once(world, memory, policy, scenario.time_of(index))
        yield rehearsed
        decision, memory = rehearsed.look.decision, rehearsed.look.memory
        if decision.drain:
            return
        world = carry_out(decision, world)


def rehearse_once(world: World, memory: Memory, policy: Policy, now: datetime) -> Rehearsed:
    """Decide about *world* by *policy*; its look has the memory of afterwards."""
    begun = perf_counter()
    decision, _, _ = decide(world, memory, policy, now)
    seconds = perf_counter() - begun
    # From now on nobody outside is asked: they gave their answers.
    heard = replace(policy, answers=decision.answers)
    if seconds < _PATIENCE:
        seconds = _typical_seconds(world, memory, heard, now)
    listener = _Listener(_Listener.Config())
    policy.hooks.register("rehearsal", listener)
    try:
        # Once more, looking closer: that takes time of its own.
        decision, memory, findings = decide(world, memory, heard, now, in_depth=True)
    finally:
        policy.hooks.unregister(listener)
    look = Look(world=world, decision=decision, memory=memory, findings=findings)
    return Rehearsed(look=look, options=listener.options or (), seconds=seconds)


def _typical_seconds(world: World, memory: Memory, policy: Policy, now: datetime) -> float:
    """Return how long a decision takes a process that has seen the world before, as one that runs in loops has."""
    runs: list[float] = []
    while len(runs) < _RUNS and sum(runs) < _PATIENCE:
        begun = perf_counter()
        decide(world, memory, policy, now)
        runs.append(perf_counter() - begun)
    return median(runs)


class _Listener(Plugin):
    """Hears what the expanders are about to choose from."""

    options: tuple[Option, ...] | None = None

    @hookimpl(trylast=True)
    def adjust_options(self, options: Sequence[Option]) -> None:
        """Keep the first list of the loop: later ones are what was left of it."""
        if self.options is None:
            self.options = tuple(options)
