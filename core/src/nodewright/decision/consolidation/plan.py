"""Consolidation: which needed nodes cheaper ones replace. It begins here, and `replacements` goes on with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import Grow
from nodewright.api.group import GroupFacts
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.consolidation.candidate import has_price
from nodewright.decision.consolidation.move import Move, Moves, Reserve
from nodewright.decision.consolidation.move_search import MoveSearch
from nodewright.decision.health import Assessment
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.limits import Limits
from nodewright.decision.memory import ConsolidationMemory, OrderMemory, Replacement
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.eligibility import filter_candidates
from nodewright.decision.scaledown.selection.selector import Selector
from nodewright.decision.steps import Steps
from nodewright.decision.world import World
from nodewright.objects.duration import format_duration
from nodewright.scheduling import ClusterSimulation

#: Why a node stays that could still be replaced. All others go, or stay for a reason that holds here as well.
_STAYS = frozenset([Reason.NEEDED, Reason.NO_PLACE, Reason.RECENTLY_UNREMOVABLE])
#: Pods that may wait while nodes are replaced: they have a place, or no node would help them.
_MAY_WAIT = frozenset([Reason.FITS, Reason.EXPENDABLE, Reason.DAEMON, Reason.FILTERED, Reason.NO_GROUP_FITS])
#: What only keeps nodes from going all at once.
_PASSING = frozenset([Reason.BUDGET, Reason.DISRUPTION_BUDGET, Reason.EVICTION_LIMIT])


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """The replacement that begins, the verdicts on nodes that could be replaced, and what to remember."""

    grow: tuple[Grow, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
    memory: ConsolidationMemory
    orders: OrderMemory


class Consolidator:
    """Plans the replacement of nodes at *now*.

    *simulation* is the cluster as it will be without the nodes that go; it is left as it is. *selector* tells whether
    their removal could start at once.
    """

    def __init__(
        self,
        world: World,
        health: Assessment,
        orders: OrderMemory,
        memory: ConsolidationMemory,
        selector: Selector,
        simulation: ClusterSimulation,
        policy: Policy,
        now: datetime,
    ) -> None:
        self._world = world
        self._health = health
        self._orders = orders
        self._memory = memory
        self._selector = selector
        self._simulation = simulation
        self._policy = policy
        self._settings = policy.settings.scale_down.consolidation
        self._now = now

    def plan(self, verdicts: Mapping[str, Verdict], *, pause: str = "") -> Consolidation:
        """Return the replacement that saves most, if any is worth it. At most one begins in a loop.

        *verdicts* are those of scale-down. *pause* is the reason why none may begin in this loop, if there is one.
        """
        memory, settings = self._memory, self._settings
        if not (self._policy.settings.scale_down.enabled and settings.enabled):
            return Consolidation(memory=memory, orders=self._orders)
        groups, reasons = self._replaceable(verdicts)
        if len(memory.replacements) >= settings.max_underway:
            pause = pause or "as many replacements as allowed are under way"
        if memory.no_search_until is not None and self._now < memory.no_search_until:
            pause = pause or f"nothing cheaper was found; looked for again from {memory.no_search_until:%H:%M:%S}"
        if pause or not groups:
            nodes = _refusals(reasons | dict.fromkeys(groups, pause), verdicts)
            return Consolidation(nodes=nodes, memory=memory, orders=self._orders)
        groups = self._filtered(groups, reasons)
        search = self._search(groups)
        reasons |= search.reasons
        move = self._choose(search.found, reasons)
        if search.complete:
            memory = memory.searched("", None if move else self._now + settings.recheck)
        else:
            memory = memory.searched(search.examined, None)
        refused = _refusals(reasons, verdicts)
        if move is None:
            return Consolidation(nodes=refused, memory=memory, orders=self._orders)
        return self._begin(move, refused, memory)

    def _replaceable(self, verdicts: Mapping[str, Verdict]) -> tuple[dict[str, GroupFacts], dict[str, str]]:
        """Return the groups of the nodes worth a look, and the reasons against others, both in order of node name.

        Nodes that go, or stay whatever they cost, are in neither.
        """
        found: dict[str, GroupFacts] = {}
        reasons: dict[str, str] = {}
        for name in sorted(name for name, verdict in verdicts.items() if verdict.reason in _STAYS):
            group = self._world.group_on(name)
            assert group is not None, "only nodes of groups have such verdicts"
            objection = self._objection(name, group)
            if objection is None:
                found[name] = group
            else:
                reasons[name] = objection
        return found, reasons

    def _objection(self, name: str, group: GroupFacts) -> str | None:
        """Return why a node of *group* is not worth a look; None if it is."""
        if not has_price(group):
            return f"nobody can tell the price of a node of {group.id}"
        if group.options.zero_or_max_node_scaling:
            return f"{group.id} is used whole or not at all"
        if group.id in self._orders.requests:
            return f"{group.id} is growing"
        node = self._world.cluster.nodes[name]
        if not is_ready(node, self._world, self._policy.settings.templates):
            return "it is not ready"
        born = node.metadata.creation_timestamp
        if born is not None and self._now - born < self._settings.after:
            return f"it is younger than {format_duration(self._settings.after)}"
        until = self._memory.left_alone_until.get(name)
        if until is not None and self._now < until:
            return f"left alone until {until:%H:%M:%S}, after a replacement"
        return None

    def _filtered(self, groups: Mapping[str, GroupFacts], reasons: dict[str, str]) -> dict[str, GroupFacts]:
        """Return those of *groups* by node that processors and hooks keep. Why others are out is added to *reasons*."""
        context = ProcessorContext(now=self._now, simulation=self._simulation, groups=self._world.groups)
        refused: dict[str, Verdict] = {}
        nodes = [self._world.cluster.nodes[name] for name in groups]
        kept = filter_candidates(nodes, refused, Steps(self._policy, self._simulation, context))
        reasons |= {name: str(verdict) for name, verdict in refused.items()}
        return {node.name: groups[node.name] for node in kept}

    def _search(self, groups: Mapping[str, GroupFacts]) -> MoveSearch:
        """Return what a search among the nodes whose *groups* are given finds."""
        world, policy = self._world, self._policy
        reserve = Reserve.of_pods_since(self._now - self._settings.reserve, world.cluster, self._simulation)
        limits = Limits(world, self._health, policy.settings.limits)
        moves = Moves(world, self._simulation, self._sources(), limits, reserve, self._settings)
        search = MoveSearch(world, moves, Drainability(world, policy, self._now), policy)
        search.look(groups, self._memory.examined)
        return search

    def _sources(self) -> list[GroupFacts]:
        """Return the groups that new nodes can come from."""
        return [
            group.facts
            for group in self._health.groups
            if group.blocked is None
            and not group.upcoming
            and group.facts.id not in self._orders.requests
            and not group.facts.error
            and not group.facts.options.zero_or_max_node_scaling
            and group.facts.template is not None
            and has_price(group.facts)
        ]

    def _choose(self, moves: Iterable[Move], reasons: dict[str, str]) -> Move | None:
        """Return the move that saves most, of those whose removals could start at once; other nodes stay."""
        chosen: Move | None = None
        for move in sorted(moves, key=lambda each: -each.saving):
            objection = "another replacement comes first" if chosen else self._hindrance(move)
            if objection is None:
                chosen = move
            else:
                reasons |= {each.node.name: objection for each in move.leaving}
        for each in chosen.leaving if chosen else ():
            reasons.pop(each.node.name, None)
        return chosen

    def _hindrance(self, move: Move) -> str | None:
        """Return what would keep the nodes of *move* if the new ones were ready; then none are ordered."""
        selection = self._selector.select([each.removable("") for each in move.leaving])
        reasons = [verdict for verdict in selection.verdicts.values() if verdict.reason not in _PASSING]
        if reasons or not selection.chosen:
            return str(next(iter(reasons or selection.verdicts.values())))
        return None

    def _begin(self, move: Move, refused: dict[str, Verdict], memory: ConsolidationMemory) -> Consolidation:
        names = [each.node.name for each in move.leaving]
        replacement = Replacement(
            nodes={each.node.name: each.node.spec.provider_id for each in move.leaving},
            group=move.group.id if move.group else "",
            count=move.count,
            at=self._now,
            since=self._now,
            saving=move.saving,
            owners=tuple(sorted({row.owner.uid for each in move.leaving for row in each.move if row.owner})),
        )
        memory = memory.begun(replacement)
        replaced = dict.fromkeys(names, Verdict(reason=Reason.BEING_REPLACED, detail=str(move)))
        if move.group is None:
            return Consolidation(nodes=refused | replaced, memory=memory, orders=self._orders)
        detail = f"{', '.join(names)}: {move}"
        grow = Grow(
            group=move.group.id,
            count=move.count,
            from_size=move.group.target_size,
            verdict=Verdict(reason=Reason.CONSOLIDATION, detail=detail),
        )
        orders = self._orders.ordered(move.group.id, move.count, self._now)
        return Consolidation(grow=(grow,), nodes=refused | replaced, memory=memory, orders=orders)


def waiting(pods: Mapping[str, Verdict]) -> str:
    """Return how many *pods* wait for nodes, by their verdicts; empty if none do. No node is replaced meanwhile."""
    count = sum(verdict.reason not in _MAY_WAIT for verdict in pods.values())
    return f"{count} pods wait" if count > 1 else "a pod waits" if count else ""


def _refusals(reasons: Mapping[str, str], verdicts: Mapping[str, Verdict]) -> dict[str, Verdict]:
    return {
        name: Verdict(reason=Reason.UNCONSOLIDATABLE, detail=f"{why}; {verdicts[name]}")
        for name, why in reasons.items()
    }
