"""The comparison of our decisions with another autoscaler's deeds."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from nodewright.api.decision import Decision
from nodewright.config.model import Settings
from nodewright.decision.decide import Decided
from nodewright.decision.memory import Memory
from nodewright.decision.scaleup.balancing import Similarity
from nodewright.decision.world import World
from nodewright.shadow.cleanups import CleanupComparison
from nodewright.shadow.finding import Finding, Kind
from nodewright.shadow.following import follow, without_growth
from nodewright.shadow.growth import GrowthComparison, Hindsight
from nodewright.shadow.removals import NodeViews, RemovalComparison
from nodewright.shadow.sighting import Deeds, Sighting, look_at

#: So many turns of equally good groups are tried to see whether a growth is one of them.
_TURNS = 4

#: Decides on a world, by a memory, at a time.
Decide = Callable[[World, Memory, datetime], Decided]


@dataclass(frozen=True, kw_only=True)
class _Loop:
    """What is known before a loop decides."""

    deeds: Deeds
    hindsight: Hindsight | None


class Comparison:
    """Stands beside the loop: `begin` before it decides, `end` after it. Pure but for what it remembers itself."""

    def __init__(self, settings: Settings, now: datetime) -> None:
        scale_down, patience = settings.scale_down, settings.shadow.patience
        self.settled = now + max(scale_down.unneeded_time, scale_down.delay_after_add)
        self._growth = GrowthComparison(patience)
        self._removals = RemovalComparison(patience, self.settled)
        self._cleanups = CleanupComparison(patience)
        self._sighting: Sighting | None = None
        self._loop = _Loop(deeds=Deeds(at=now), hindsight=None)
        self._views = NodeViews()

    @property
    def deeds(self) -> Deeds:
        """What the other one did before the present loop."""
        return self._loop.deeds

    def begin(self, world: World, memory: Memory, settings: Settings, now: datetime, decide: Decide) -> Memory:
        """Look at what was done since the last loop, and return the *memory* that the present one goes by."""
        before = self._sighting
        self._sighting, deeds = look_at(world, now, before, settings.shadow.patience)
        hindsight, twin = None, None
        if deeds.grew and before is not None:
            hindsight, twin = _look_back(without_growth(world, deeds, before), memory, deeds, settings, decide)
        self._loop = _Loop(deeds=deeds, hindsight=hindsight)
        return follow(memory, self._sighting, deeds, settings, twin)

    def end(self, decision: Decision, world: World, memory: Memory, settings: Settings) -> list[Finding]:
        """Return what the present loop brought to light; *decision* and *memory* are those that it left."""
        deeds, unjudged = _apart(self._loop.deeds)
        findings = [
            *unjudged,
            *self._growth.compare(deeds.grew, self._loop.hindsight, decision),
            *self._removals.compare(deeds, self._views, decision, world.cluster.nodes),
            *self._cleanups.compare(deeds, decision),
        ]
        ends = {facts.id: memory.cooldown.pause_ends(settings.scale_down, facts.id) for facts in world.groups}
        self._views = NodeViews(verdicts=decision.nodes, standings=memory.verdicts.last, pauses=ends)
        return findings


def _apart(deeds: Deeds) -> tuple[Deeds, list[Finding]]:
    """Return *deeds* without those in unwatched groups, and findings that tell of these."""
    if not deeds.unwatched:
        return deeds, []
    told = [(group, "", f"grew it by {count}") for group, count in deeds.grew.items()]
    told += [(group, "", f"took {count} off its size") for group, count in deeds.shrank.items()]
    told += [(going.group, name, "removed it") for name, going in deeds.began.items()]
    findings = [
        Finding(
            at=deeds.at,
            kind=Kind.UNJUDGED,
            group=group,
            node=node,
            theirs=theirs,
            why="the group could not be watched meanwhile",
        )
        for group, node, theirs in told
        if group in deeds.unwatched
    ]
    judged = replace(
        deeds,
        grew={group: count for group, count in deeds.grew.items() if group not in deeds.unwatched},
        shrank={group: count for group, count in deeds.shrank.items() if group not in deeds.unwatched},
        began={name: going for name, going in deeds.began.items() if going.group not in deeds.unwatched},
    )
    return judged, findings


def _look_back(
    world: World, memory: Memory, deeds: Deeds, settings: Settings, decide: Decide
) -> tuple[Hindsight, Memory | None]:
    """Return what we would have done in place of *deeds*, and the memory of it if that is the same."""
    decision, twin, found = decide(world, memory, deeds.at)
    if _includes(decision, deeds):
        return Hindsight(decision=decision), twin
    others = []
    for turn in range(1, min(_TURNS, len(world.groups))):
        another_turn = replace(memory, orders=memory.orders.with_turn(memory.orders.turn + turn))
        other, twin, _ = decide(world, another_turn, deeds.at)
        others.append(other)
        if _includes(other, deeds):
            return Hindsight(decision=decision, other_turns=others), twin
    similarity = Similarity(world.cluster, settings.scale_up.balancing, world.balancing_ignored_labels)
    groups = {facts.id: facts for facts in found.groups if facts.template is not None}

    def alike(one: str, other: str) -> bool:
        if one not in groups or other not in groups or groups[one].hourly_price != groups[other].hourly_price:
            return False
        return bool(similarity.among(groups[one], [groups[other]]))

    return Hindsight(decision=decision, other_turns=others, alike=alike), None


def _includes(decision: Decision, deeds: Deeds) -> bool:
    ours = {grow.group: grow.count for grow in decision.grow}
    return all(ours.get(group) == count for group, count in deeds.grew.items())
