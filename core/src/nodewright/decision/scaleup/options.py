"""Options: what growing each group would do for the pending pods."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.api.estimator import Estimate
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.limits import Limits
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.kinds import Kinds
from nodewright.decision.scaleup.similarity import Similarity
from nodewright.decision.world import World
from nodewright.plugins.results import instance_of
from nodewright.scheduling import ClusterSimulation

#: The verdict on each set of pods that does not fit a new node, by the set's first pod.
Refusals = Mapping[str, Verdict]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of all groups, with what speaks against the rest."""

    options: tuple[Option, ...]
    #: Why a group takes no part.
    groups: Mapping[str, Verdict]
    #: What each group refuses; of groups that take no part only where the configuration wants to know.
    refusals: Mapping[str, Refusals]


@dataclass(kw_only=True)
class _Kind:
    """What is known of groups that no pending pod can tell apart."""

    fitting: tuple[PodSet, ...]
    refusals: Refusals
    #: Estimates by limit.
    estimates: dict[int, Estimate | None] = field(default_factory=dict)


class OptionFinder:
    """Finds the options of one round after the other of a scale-up; pods only ever get fewer."""

    def __init__(
        self,
        policy: Policy,
        simulation: ClusterSimulation,
        limits: Limits,
        world: World,
        groups: Sequence[GroupFacts],
    ) -> None:
        self._policy = policy
        self._simulation = simulation
        self._limits = limits
        settings = policy.settings.scale_up
        self._similarity = (
            Similarity(world.cluster, settings.balancing, world.balancing_ignored_labels)
            if settings.balance_similar_groups
            else None
        )
        self._end = policy.stopwatch() + settings.max_binpacking_time.total_seconds()
        self._sizes = {facts.id: facts.target_size for facts in groups}
        self._kinds: Kinds | None = None

    def find(self, groups: Sequence[GroupFacts], blocked: Mapping[str, Verdict], sets: Sequence[PodSet]) -> Options:
        """Return one option for each of *groups* that is not *blocked*, can grow and would help."""
        verdicts: dict[str, Verdict] = {}
        kinds = self._ask(groups, blocked, sets, verdicts)
        able = [facts for facts in groups if facts.id in kinds]
        options = []
        for facts in able:
            kind = kinds[facts.id]
            if self._policy.stopwatch() > self._end:
                verdicts[facts.id] = Verdict(reason=Reason.OUT_OF_TIME)
                continue
            if not kind.fitting:
                verdicts[facts.id] = Verdict(reason=Reason.NO_HELP)
                continue
            similar = self._similar(facts, able, kinds)
            estimate = self._estimate(facts, kind, self._limit(facts, similar))
            if estimate is None:
                verdicts[facts.id] = Verdict(reason=Reason.STRATEGY_FAILED, detail=self._policy.estimator[0])
            elif estimate.nodes < 1 or not estimate.pods:
                verdicts[facts.id] = Verdict(reason=Reason.NO_HELP)
            else:
                offered = self._policy.hooks.adjust_estimate(facts, kind.fitting, estimate)
                if offered.nodes < 1 or not offered.pods:
                    verdicts[facts.id] = Verdict(reason=Reason.FILTERED, detail="a hook")
                else:
                    options.append(self._option(facts, offered, similar))
        refusals = {group: kind.refusals for group, kind in kinds.items()}
        if self._policy.settings.scale_up.explain_skipped_groups:
            left_out = [facts for facts in groups if facts.id not in kinds and facts.template is not None]
            refusals |= {facts.id: self._try(facts, sets).refusals for facts in left_out}
        return Options(options=tuple(options), groups=verdicts, refusals=refusals)

    def _ask(
        self,
        groups: Sequence[GroupFacts],
        blocked: Mapping[str, Verdict],
        sets: Sequence[PodSet],
        verdicts: dict[str, Verdict],
    ) -> dict[str, _Kind]:
        """Return the kind of each group that may grow; why the others may not goes to *verdicts*."""
        # Those who are left in later rounds were among the first.
        self._kinds = kinds = self._kinds or Kinds(self._simulation.cluster, sets)
        known: dict[Hashable, _Kind] = {}
        found: dict[str, _Kind] = {}
        for facts in groups:
            objection = blocked.get(facts.id) or self._objection(facts)
            if objection is not None:
                verdicts[facts.id] = objection
                continue
            what = kinds.of(facts)
            if what not in known:
                known[what] = self._try(facts, sets)
            found[facts.id] = known[what]
        return found

    def _objection(self, facts: GroupFacts) -> Verdict | None:
        if facts.target_size >= facts.max_size:
            return Verdict(reason=Reason.GROUP_AT_MAX, detail=f"{facts.target_size} of {facts.max_size}")
        if self._left_of_loop(facts) == 0:
            most = self._policy.settings.scale_up.max_nodes_per_scale_up
            return Verdict(reason=Reason.LIMIT_NODES, detail=f"{most} for a group in one loop")
        if facts.options.zero_or_max_node_scaling:
            return self._limits.objection(facts, facts.max_size - facts.target_size)
        return self._limits.objection(facts, 1)

    def _try(self, facts: GroupFacts, sets: Sequence[PodSet]) -> _Kind:
        """Hold each set of pods against one new node."""
        fitting = []
        refusals = {}
        with self._simulation.fork() as fork:
            (name,) = fork.add_nodes(facts, 1)
            for pods in sets:
                refusal = fork.why_not(pods, name)
                if refusal is None:
                    fitting.append(pods)
                else:
                    refusals[pods.keys[0]] = refusal
        return _Kind(fitting=tuple(fitting), refusals=refusals)

    def _similar(
        self, facts: GroupFacts, able: Sequence[GroupFacts], kinds: Mapping[str, _Kind]
    ) -> tuple[GroupFacts, ...]:
        """Return the groups like *facts* that the same pods would fit."""
        if self._similarity is None:
            return ()
        wanted = {pods.keys[0] for pods in kinds[facts.id].fitting}
        return tuple(
            other
            for other in self._similarity.among(facts, able)
            if wanted <= {pods.keys[0] for pods in kinds[other.id].fitting}
        )

    def _limit(self, facts: GroupFacts, similar: Sequence[GroupFacts]) -> int:
        own = sum(each.max_size - each.target_size for each in (facts, *similar))
        return min(each for each in (own, self._left_of_loop(facts), self._limits.room) if each is not None)

    def _option(self, facts: GroupFacts, estimate: Estimate, similar: Sequence[GroupFacts]) -> Option:
        whole = facts.options.zero_or_max_node_scaling
        return Option(
            group=facts,
            nodes=facts.max_size - facts.target_size if whole else estimate.nodes,
            pods=estimate.pods,
            similar=tuple(other.id for other in similar),
            limit=self._limit(facts, ()),
        )

    def _left_of_loop(self, facts: GroupFacts) -> int | None:
        """Return how many more nodes a group may get in this loop, by the setting for that; None if it has no limit."""
        most = self._policy.settings.scale_up.max_nodes_per_scale_up
        return max(0, most - facts.target_size + self._sizes[facts.id]) if most else None

    def _estimate(self, facts: GroupFacts, kind: _Kind, limit: int) -> Estimate | None:
        name, estimator = self._policy.estimator
        if estimator.by_template:
            for known_limit, known in kind.estimates.items():
                if known is not None and _holds_for(known, known_limit, limit, len(kind.fitting)):
                    return known
        with self._simulation.fork() as fork:
            estimate = self._policy.faults.call(
                name,
                "estimate",
                estimator.estimate,
                facts,
                kind.fitting,
                fork,
                limit,
                default=None,
                returns=instance_of(Estimate),
            )
        kind.estimates[limit] = estimate
        return estimate


def _holds_for(known: Estimate, known_limit: int, limit: int, sets: int) -> bool:
    """Tell whether an estimate would come out the same with another limit: if neither was in its way."""
    # Each set may have left a node empty that counted for the limit.
    most = known.nodes + sets
    return limit == known_limit or (most < limit and most < known_limit)
