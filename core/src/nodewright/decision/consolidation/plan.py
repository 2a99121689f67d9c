"""Consolidation: which needed nodes cheaper ones take over from. It begins here; `replacements` goes on with it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import Grow
from nodewright.api.group import GroupFacts
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.consolidation.candidate import has_price, replaceable
from nodewright.decision.consolidation.move import Move, Moves
from nodewright.decision.consolidation.move_search import Search
from nodewright.decision.consolidation.reserve import Reserve
from nodewright.decision.health import Assessment
from nodewright.decision.limits import Limits
from nodewright.decision.memory import (
    ConsolidationMemory,
    CooldownMemory,
    OrderMemory,
    RemovalMemory,
    Replacement,
    UnneededMemory,
)
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.eligibility import filter_candidates
from nodewright.decision.scaledown.selection.choice import select
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation

#: Pods that may wait while nodes are replaced: they have a place, or no node would help them.
_CONTENT = frozenset([Reason.FITS, Reason.EXPENDABLE, Reason.DAEMON, Reason.FILTERED, Reason.NO_GROUP_FITS])
#: What only keeps nodes from going all at once.
_PASSING = frozenset([Reason.BUDGET, Reason.DISRUPTION_BUDGET, Reason.EVICTION_LIMIT])


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """The replacement that begins, verdicts on the nodes that could be replaced, and what to remember."""

    grow: tuple[Grow, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
    memory: ConsolidationMemory
    orders: OrderMemory


@dataclass(frozen=True, kw_only=True)
class Departure:
    """What tells whether a node could begin to go at once."""

    unneeded: UnneededMemory
    leaving: RemovalMemory
    cooldown: CooldownMemory

    def hindrance(self, move: Move, world: World, policy: Policy, now: datetime) -> str | None:
        """Return what would keep the nodes of *move* if the new ones were ready: nothing is ordered for these."""
        removable = [each.removable("") for each in move.leaving]
        selection = select(removable, world, self.unneeded, self.leaving, self.cooldown, policy, now)
        against = [verdict for verdict in selection.verdicts.values() if verdict.reason not in _PASSING]
        if against or not selection.chosen:
            return str(next(iter(against or selection.verdicts.values())))
        return None


def consolidate(
    world: World,
    health: Assessment,
    verdicts: Mapping[str, Verdict],
    memory: ConsolidationMemory,
    orders: OrderMemory,
    departure: Departure,
    simulation: ClusterSimulation,
    policy: Policy,
    now: datetime,
    *,
    pause: str = "",
) -> Consolidation:
    """Return the replacement that saves most, if one is worth it at all; at most one begins in a loop.

    *verdicts* are those of scale-down, which has left *simulation* as the cluster will be without the nodes that go;
    nothing is changed in it. *pause* says why none must begin in this loop, if so.
    """
    settings = policy.settings.scale_down.consolidation
    if not (policy.settings.scale_down.enabled and settings.enabled):
        return Consolidation(memory=memory, orders=orders)
    groups, against = replaceable(world, verdicts, orders, memory, policy, now)
    if len(memory.replacements) >= settings.max_underway:
        pause = pause or "as many replacements as allowed are under way"
    if memory.no_search_until is not None and now < memory.no_search_until:
        pause = pause or f"nothing cheaper was found; looked for again from {memory.no_search_until:%H:%M:%S}"
    if pause or not groups:
        nodes = _refusals(against | dict.fromkeys(groups, pause), verdicts)
        return Consolidation(nodes=nodes, memory=memory, orders=orders)
    context = ProcessorContext(now=now, simulation=simulation, groups=world.groups)
    groups = _let_go(groups, against, world, policy, context)
    reserve = Reserve(world, simulation, settings.reserve, now)
    room = Limits(world, health, policy.settings.limits)
    moves = Moves(world, simulation, _sources(health, orders), room, reserve, settings)
    search = Search(world, moves, policy, now)
    search.look(groups, memory.examined)
    against |= search.against
    move = _choose(search.found, against, lambda move: departure.hindrance(move, world, policy, now))
    if search.complete:
        memory = memory.searched("", None if move else now + settings.recheck)
    else:
        memory = memory.searched(search.examined, None)
    refused = _refusals(against, verdicts)
    if move is None:
        return Consolidation(nodes=refused, memory=memory, orders=orders)
    return _begin(move, refused, memory, orders, now)


def waiting(pods: Mapping[str, Verdict]) -> str:
    """Return that pods wait, given the verdicts on *pods*, if they do: then none of their nodes is replaced."""
    count = sum(verdict.reason not in _CONTENT for verdict in pods.values())
    return f"{count} pods wait" if count > 1 else "a pod waits" if count else ""


def _sources(health: Assessment, orders: OrderMemory) -> list[GroupFacts]:
    """Return the groups that new nodes can come from."""
    return [
        group.facts
        for group in health.groups
        if group.blocked is None
        and not group.upcoming
        and group.facts.id not in orders.requests
        and group.facts.exists
        and not group.facts.error
        and not group.facts.options.zero_or_max_node_scaling
        and group.facts.template is not None
        and has_price(group.facts)
    ]


def _let_go(
    groups: Mapping[str, GroupFacts],
    against: dict[str, str],
    world: World,
    policy: Policy,
    context: ProcessorContext,
) -> dict[str, GroupFacts]:
    """Return those of *groups* by node that processors and hooks would let go; *against* gets the others."""
    refused: dict[str, Verdict] = {}
    kept = filter_candidates([world.cluster.nodes[name] for name in groups], refused, policy, context)
    against |= {name: str(verdict) for name, verdict in refused.items()}
    return {node.name: groups[node.name] for node in kept}


def _choose(moves: Iterable[Move], against: dict[str, str], hindrance: Callable[[Move], str | None]) -> Move | None:
    """Return the move that saves most of those whose nodes could begin to go at once; the nodes of others stay."""
    chosen: Move | None = None
    for move in sorted(moves, key=lambda each: -each.saving):
        objection = "another replacement comes first" if chosen else hindrance(move)
        if objection is None:
            chosen = move
        else:
            against |= {each.node.name: objection for each in move.leaving}
    for each in chosen.leaving if chosen else ():
        against.pop(each.node.name, None)
    return chosen


def _begin(
    move: Move, refused: dict[str, Verdict], memory: ConsolidationMemory, orders: OrderMemory, now: datetime
) -> Consolidation:
    names = [each.node.name for each in move.leaving]
    replacement = Replacement(
        nodes={each.node.name: each.node.spec.provider_id for each in move.leaving},
        group=move.group.id if move.group else "",
        count=move.count,
        at=now,
        since=now,
        saving=move.saving,
        owners=tuple(sorted({row.owner.uid for each in move.leaving for row in each.move if row.owner})),
    )
    memory = memory.begun(replacement)
    told = dict.fromkeys(names, Verdict(reason=Reason.BEING_REPLACED, detail=str(move)))
    if move.group is None:
        return Consolidation(nodes=refused | told, memory=memory, orders=orders)
    detail = f"{', '.join(names)}: {move}"
    grow = Grow(
        group=move.group.id,
        count=move.count,
        from_size=move.group.target_size,
        verdict=Verdict(reason=Reason.CONSOLIDATION, detail=detail),
    )
    orders = orders.ordered(move.group.id, move.count, now)
    return Consolidation(grow=(grow,), nodes=refused | told, memory=memory, orders=orders)


def _refusals(against: Mapping[str, str], verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    return {
        name: Verdict(reason=Reason.UNCONSOLIDATABLE, detail=f"{why}; {verdicts[name]}")
        for name, why in against.items()
    }
