"""Rehearsals: decisions on a scenario, as many as it says. Nothing outside of the scenario changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from time import perf_counter

from nodewright.api.decision import Decision
from nodewright.api.hookspecs import hookimpl
from nodewright.api.option import Option
from nodewright.api.plugin import Plugin
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.explain.look import Look
from nodewright.scenario.scenario import Scenario

#: How often a decision is timed,
_RUNS = 5
#: unless that takes more seconds than this.
_PATIENCE = 0.5


@dataclass(frozen=True, kw_only=True)
class Rehearsed:
    """One iteration: what was decided, and the options of the expanders."""

    look: Look
    options: tuple[Option, ...]
    #: How long the decision takes in a loop: without findings, and not as the first one of a process.
    seconds: float


def rehearse(scenario: Scenario, policy: Policy) -> Iterator[Rehearsed]:
    """Decide on *scenario* by *policy* and yield each iteration; the first one in which a node goes is the last.

    Between iterations groups get the sizes that were asked for, and no machine comes or goes.
    """
    world, memory = scenario.world(policy.pod_annotations), scenario.memory
    for index in range(scenario.iterations):
        rehearsed = rehearse_once(world, memory, policy, scenario.time_of(index))
        yield rehearsed
        decision, memory = rehearsed.look.decision, rehearsed.look.memory
        if decision.drain:
            return
        world = carry_out(decision, world)


def rehearse_once(world: World, memory: Memory, policy: Policy, now: datetime) -> Rehearsed:
    """Decide on *world* by *policy*; the look has the memory after the decision."""
    begun = perf_counter()
    decision, _, _ = decide(world, memory, policy, now)
    seconds = perf_counter() - begun
    # Strategies that ask outside have their answers now: they are not asked again.
    heard = replace(policy, answers=decision.answers)
    if seconds < _PATIENCE:
        seconds = _typical_seconds(world, memory, heard, now)
    listener = _Listener(_Listener.Config())
    policy.hooks.register("rehearsal", listener)
    try:
        # Once more for the findings, which take time of their own.
        decision, memory, findings = decide(world, memory, heard, now, in_depth=True)
    finally:
        policy.hooks.unregister(listener)
    look = Look(world=world, decision=decision, memory=memory, findings=findings)
    return Rehearsed(look=look, options=listener.options or (), seconds=seconds)


def carry_out(decision: Decision, world: World) -> World:
    """Return *world* once the clouds have taken the orders of *decision*: other sizes, and the same machines."""
    change: dict[str, int] = {}
    for grow in decision.grow:
        change[grow.group] = change.get(grow.group, 0) + grow.count
    for shrink in decision.shrink:
        change[shrink.group] = change.get(shrink.group, 0) - shrink.count
    return replace(
        world,
        groups=tuple(
            replace(group, target_size=group.target_size + change[group.id]) if group.id in change else group
            for group in world.groups
        ),
    )


def _typical_seconds(world: World, memory: Memory, policy: Policy, now: datetime) -> float:
    """Return how long a decision takes in a process that has seen the world before, as in a loop."""
    runs: list[float] = []
    while len(runs) < _RUNS and sum(runs) < _PATIENCE:
        begun = perf_counter()
        decide(world, memory, policy, now)
        runs.append(perf_counter() - begun)
    return median(runs)


class _Listener(Plugin):
    """Notes the options that the expanders are about to choose from."""

    options: tuple[Option, ...] | None = None

    @hookimpl(trylast=True)
    def adjust_options(self, options: Sequence[Option]) -> None:
        """Keep the first list of the loop: later lists are what is left of it."""
        if self.options is None:
            self.options = tuple(options)
