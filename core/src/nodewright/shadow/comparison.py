"""The comparison of our decisions with another autoscaler's actions."""

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
from nodewright.shadow.following import follow, without_growth
from nodewright.shadow.growth import GrowthComparison, Hindsight
from nodewright.shadow.judgement import Judgement, JudgementKind
from nodewright.shadow.observation import Actions, Observation, observe
from nodewright.shadow.removals import NodeViews, RemovalComparison

#: How many turns of equally good groups are tried, to see whether a growth is one of them.
_TURNS = 4

#: Decides on a world, by a memory, at a time.
Decide = Callable[[World, Memory, datetime], Decided]


@dataclass(frozen=True, kw_only=True)
class _Loop:
    """What is known before a loop decides."""

    actions: Actions
    hindsight: Hindsight | None


class Comparison:
    """Compares loop by loop: `begin` is called before a loop decides, `end` after. It does no I/O."""

    def __init__(self, settings: Settings, now: datetime) -> None:
        scale_down, patience = settings.scale_down, settings.shadow.patience
        self.settled = now + max(scale_down.unneeded_time, scale_down.delay_after_add)
        self._growth = GrowthComparison(patience)
        self._removals = RemovalComparison(patience, self.settled)
        self._cleanups = CleanupComparison(patience)
        self._observation: Observation | None = None
        self._loop = _Loop(actions=Actions(at=now), hindsight=None)
        self._views = NodeViews()

    @property
    def actions(self) -> Actions:
        """What the other one did between the previous loop and this one."""
        return self._loop.actions

    def begin(self, world: World, memory: Memory, settings: Settings, now: datetime, decide: Decide) -> Memory:
        """Observe what was done since the last loop, and return the *memory* that this one decides by."""
        before = self._observation
        self._observation, actions = observe(world, now, before, settings.shadow.patience)
        hindsight, twin = None, None
        if actions.grew and before is not None:
            hindsight, twin = _look_back(without_growth(world, actions, before), memory, actions, settings, decide)
        self._loop = _Loop(actions=actions, hindsight=hindsight)
        return follow(memory, self._observation, actions, settings, twin)

    def end(self, decision: Decision, world: World, memory: Memory, settings: Settings) -> list[Judgement]:
        """Return the judgements of this loop; *decision* and *memory* are its results."""
        actions, unjudged = _apart(self._loop.actions)
        judgements = [
            *unjudged,
            *self._growth.compare(actions.grew, self._loop.hindsight, decision),
            *self._removals.compare(actions, self._views, decision, world.cluster.nodes),
            *self._cleanups.compare(actions, decision),
        ]
        ends = {facts.id: memory.cooldown.pause_ends(settings.scale_down, facts.id) for facts in world.groups}
        self._views = NodeViews(verdicts=decision.nodes, last_verdicts=memory.verdicts.last, pauses=ends)
        return judgements


def _apart(actions: Actions) -> tuple[Actions, list[Judgement]]:
    """Return *actions* without those in unwatched groups, and a judgement of each of these."""
    if not actions.unwatched:
        return actions, []
    seen = [(group, "", f"grew it by {count}") for group, count in actions.grew.items()]
    seen += [(group, "", f"took {count} off its size") for group, count in actions.shrank.items()]
    seen += [(going.group, name, "removed it") for name, going in actions.began.items()]
    judgements = [
        Judgement(
            at=actions.at,
            kind=JudgementKind.UNJUDGED,
            group=group,
            node=node,
            theirs=theirs,
            why="the group could not be watched meanwhile",
        )
        for group, node, theirs in seen
        if group in actions.unwatched
    ]
    judged = replace(
        actions,
        grew={group: count for group, count in actions.grew.items() if group not in actions.unwatched},
        shrank={group: count for group, count in actions.shrank.items() if group not in actions.unwatched},
        began={name: going for name, going in actions.began.items() if going.group not in actions.unwatched},
    )
    return judged, judgements


def _look_back(
    world: World, memory: Memory, actions: Actions, settings: Settings, decide: Decide
) -> tuple[Hindsight, Memory | None]:
    """Return what we would have done in place of *actions*, and its memory if that is the same."""
    decision, twin, found = decide(world, memory, actions.at)
    if _includes(decision, actions):
        return Hindsight(decision=decision), twin
    others = []
    for turn in range(1, min(_TURNS, len(world.groups))):
        another_turn = replace(memory, orders=memory.orders.with_turn(memory.orders.turn + turn))
        other, twin, _ = decide(world, another_turn, actions.at)
        others.append(other)
        if _includes(other, actions):
            return Hindsight(decision=decision, other_turns=others), twin
    similarity = Similarity(world.cluster, settings.scale_up.balancing, world.balancing_ignored_labels)
    groups = {facts.id: facts for facts in found.groups if facts.template is not None}

    def alike(one: str, other: str) -> bool:
        if one not in groups or other not in groups or groups[one].hourly_price != groups[other].hourly_price:
            return False
        return bool(similarity.among(groups[one], [groups[other]]))

    return Hindsight(decision=decision, other_turns=others, alike=alike), None


def _includes(decision: Decision, actions: Actions) -> bool:
    ours = {grow.group: grow.count for grow in decision.grow}
    return all(ours.get(group) == count for group, count in actions.grew.items())
