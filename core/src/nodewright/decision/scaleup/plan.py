"""The scale-up of one loop: which groups grow for pending pods, and up to their minimum sizes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from nodewright.api.decision import Answer, Grow, OptionVerdict
from nodewright.api.expander import ExpanderContext
from nodewright.api.group import GroupFacts
from nodewright.api.notice import Notice
from nodewright.api.option import PodSet
from nodewright.api.processor import Intended, ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.demand.pending import PendingPods, find_pending, returning_pods
from nodewright.decision.health import Assessment
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.limits import Limits
from nodewright.decision.memory import Intention
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.balancing import Similarity
from nodewright.decision.scaleup.choice import Chooser
from nodewright.decision.scaleup.expansion import Expansion
from nodewright.decision.scaleup.gangs import INCOMPLETE, gang_of, incomplete_gangs
from nodewright.decision.scaleup.options import OptionFinder
from nodewright.decision.steps import Steps
from nodewright.decision.world import World
from nodewright.plugins.pricing import GuardedPricing
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class ScaleUpPlan:
    """Which groups grow and why, and why not more."""

    grow: tuple[Grow, ...] = ()
    #: How many options were taken.
    taken: int = 0
    pods: dict[str, Verdict] = field(default_factory=dict)
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    groups: dict[str, Verdict] = field(default_factory=dict)
    options: tuple[OptionVerdict, ...] = ()
    notices: tuple[Notice, ...] = ()
    answers: tuple[Answer, ...] = ()
    #: Which pods the new nodes are meant for.
    intentions: tuple[Intention, ...] = ()
    #: Whether pods have only just come, so that neither nodes for them nor removals are begun.
    pods_just_came: bool = False
    #: When these were first seen, by pod.
    arrivals: Mapping[str, datetime] = field(default_factory=dict)
    #: When pods will be old enough to be looked at again.
    again: datetime | None = None


class ScaleUp:
    """Plans the growth of one loop at *now*. Pending pods that fit on nodes in *simulation* are placed there."""

    def __init__(
        self, world: World, health: Assessment, simulation: ClusterSimulation, policy: Policy, now: datetime
    ) -> None:
        self._world = world
        self._health = health
        self._simulation = simulation
        self._policy = policy
        self._settings = policy.settings.scale_up
        self._now = now

    def plan(
        self,
        turn: int,
        seen: Mapping[str, datetime],
        *,
        leaving: Iterable[str] = (),
        intended: Sequence[Intended] = (),
    ) -> ScaleUpPlan:
        """Return which groups grow.

        Equal options take turns: *turn* counts how many were taken so far. New pods may have been *seen* before.
        Pods on nodes that are *leaving*, which are not in the simulation, will be pending soon. Nodes on their way were
        ordered for pods that are *intended*.
        """
        context = ProcessorContext(
            now=self._now,
            simulation=self._simulation,
            groups=tuple(group.facts for group in self._health.groups),
            intended=intended,
            expendable_priority_cutoff=self._settings.expendable_priority_cutoff,
            returning=returning_pods(self._world.cluster, leaving, self._settings.allowed_schedulers),
        )
        with self._policy.timings.time("filterOutSchedulable"):
            pending = find_pending(self._world, Steps(self._policy, self._simulation, context), seen)
        plan = self._for_pods(pending, turn)
        return replace(
            plan,
            grow=self._with_minimums(plan.grow) if self._settings.enforce_min_size else plan.grow,
            notices=pending.notices + plan.notices,
            pods_just_came=pending.all_new,
            arrivals=pending.arrivals,
            again=pending.again,
        )

    def _for_pods(self, pending: PendingPods, turn: int) -> ScaleUpPlan:
        if not pending.sets:
            return ScaleUpPlan(pods=pending.verdicts)
        if not self._settings.from_zero and not self._health.readiness.ready:
            off = Verdict(reason=Reason.NO_SCALE_FROM_ZERO)
            return ScaleUpPlan(pods=pending.verdicts, groups={group.facts.id: off for group in self._health.groups})
        if self._is_full():
            full = Verdict(reason=Reason.LIMIT_NODES)
            waiting = {key: full for pods in pending.sets for key in pods.keys}
            return ScaleUpPlan(pods={**pending.verdicts, **waiting})
        return self._expand(pending, turn)

    def _is_full(self) -> bool:
        """Tell whether as many nodes are in service as there may be."""
        maximum = self._policy.settings.limits.nodes.max
        nodes, templates = self._world.cluster.nodes.values(), self._policy.settings.templates
        return bool(maximum) and sum(is_ready(node, self._world, templates) for node in nodes) >= maximum

    def _expand(self, pending: PendingPods, turn: int) -> ScaleUpPlan:
        policy, world = self._policy, self._world
        context = ExpanderContext(
            now=self._now,
            random=Random(f"{policy.settings.seed} {self._now.isoformat()}"),
            turn=policy.settings.seed + turn,
            cluster_size=self._simulation.size,
            pricing={name: GuardedPricing(name, model, policy.faults) for name, model in world.pricing.items()},
            simulation=self._simulation,
            config_maps=world.config_maps,
        )
        chooser = Chooser(policy, self._simulation)
        sets: Sequence[PodSet] = pending.sets
        left_out: dict[str, Verdict] = {}
        while True:
            # Ordered nodes are not there yet: later stages must not count on them.
            with self._simulation.fork():
                expansion = self._expansion(chooser, context)
                expansion.serve(sets)
            gangs = incomplete_gangs(sets, expansion.helped)
            if not gangs:
                break
            left_out |= {key: INCOMPLETE for pods in sets if gang_of(pods) in gangs for key in pods.keys}
            sets = [pods for pods in sets if gang_of(pods) not in gangs]
        return ScaleUpPlan(
            grow=expansion.grow,
            taken=expansion.taken,
            pods={**pending.verdicts, **left_out, **expansion.pods},
            rejections={key: reasons for key, reasons in expansion.rejections.items() if reasons},
            groups=expansion.groups,
            options=tuple(expansion.options),
            notices=tuple(dict.fromkeys(context.notices)),
            answers=chooser.answers.given,
            intentions=tuple(expansion.intentions),
        )

    def _expansion(self, chooser: Chooser, context: ExpanderContext) -> Expansion:
        world, similarity, limits = self._world, None, self._limits()
        if self._settings.balance_similar_groups:
            similarity = Similarity(world.cluster, self._settings.balancing, world.balancing_ignored_labels)
        finder = OptionFinder(self._policy, self._simulation, limits, similarity)
        return Expansion(self._health.groups, self._simulation, finder, chooser, limits, context, self._policy)

    def _limits(self) -> Limits:
        return Limits(self._world, self._health, self._policy.settings.limits)

    def _with_minimums(self, grow: Sequence[Grow]) -> tuple[Grow, ...]:
        """Return *grow* with what brings every group to its minimum size, if the group can grow and limits allow it.

        Growth for pods comes first and counts for the minimum; the rest is ordered along with it.
        """
        limits = self._limits()
        grown = {each.group: each for each in grow}
        for group in self._health.groups:
            if group.facts.id in grown:
                limits.take(group.facts, grown[group.facts.id].count)
        for group in self._health.groups:
            facts = group.facts
            known = grown.get(facts.id)
            facts = facts.grown(known.count if known else 0)
            below = min(facts.min_size - facts.target_size, facts.room)
            if below < 1 or group.blocked is not None or (count := limits.allowed(facts, below)) < 1:
                continue
            grown[facts.id] = _to_minimum(facts, count) if known is None else _more(known, count, facts)
            limits.take(facts, count)
        return tuple(grown.values())


def _to_minimum(facts: GroupFacts, count: int) -> Grow:
    verdict = Verdict(reason=Reason.GROUP_BELOW_MIN, detail=f"{facts.target_size} of {facts.min_size}")
    return Grow(group=facts.id, count=count, from_size=facts.target_size, verdict=verdict)


def _more(known: Grow, count: int, facts: GroupFacts) -> Grow:
    detail = f"{known.verdict.detail}, and {count} more for its minimum of {facts.min_size}"
    return replace(known, count=known.count + count, verdict=replace(known.verdict, detail=detail))
