"""Options: what growing each group would do for the pending pods."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.api.estimator import Estimate, Estimator
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.decision.availability import none_available
from nodewright.decision.limits import Limits
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.balancing import Similarity
from nodewright.plugins.results import estimate_for, flag
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.blank_node import blank_node
from nodewright.scheduling.filters import inter_pod_affinity
from nodewright.scheduling.lent import lend
from nodewright.strategies.binpacking import Binpacking

#: The verdict on each set of pods that does not fit a new node, by the set's first pod.
Refusals = Mapping[str, Verdict]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of all groups, and the reasons against the rest."""

    options: tuple[Option, ...]
    #: Why a group takes no part.
    groups: Mapping[str, Verdict]
    #: The refusals of each group; those of groups that take no part only where the configuration asks for them.
    refusals: Mapping[str, Refusals]


@dataclass(kw_only=True)
class _Fit:
    """What new nodes of equivalent groups do for the pending pods."""

    fitting: tuple[PodSet, ...]
    refusals: Refusals
    #: Estimates by limit.
    estimates: dict[int, Estimate | None] = field(default_factory=dict)


class _Equivalence:
    """Tells which groups are equivalent: no pod in *sets* could tell their new nodes apart."""

    def __init__(self, cluster: Cluster, sets: Sequence[PodSet]) -> None:
        self._cluster = cluster
        classes = [cluster.pod_classes.of(pods.pod) for pods in sets]
        # A volume may ask for any label.
        self._any_label = any(each.has_volumes for each in classes)
        self._labels = frozenset(label for each in classes for label in _labels_that_matter(cluster, each))
        self._keys: dict[str, Hashable] = {}

    def key_of(self, facts: GroupFacts) -> Hashable:
        """Return a key that equivalent groups share. The group must have a template."""
        known = self._keys.get(facts.id)
        if known is None:
            known = self._keys[facts.id] = self._key(facts)
        return known

    def _key(self, facts: GroupFacts) -> Hashable:
        blank = blank_node(self._cluster, facts)
        labels = blank.marks.labels
        shown = labels.keys() if self._any_label else self._labels & labels.keys()
        return (
            tuple(sorted((name, labels[name]) for name in shown)),
            blank.marks.taints,
            blank.marks.unschedulable,
            tuple(sorted(blank.allocatable.items())),
            tuple(sorted(companion.index for companion in blank.companions)),
            tuple(sorted(blank.attach_limits.items())),
        )


class OptionFinder:
    """Finds the options of a scale-up, round after round. The pods only get fewer.

    Options are spread over groups that are *similar*; None: each stands alone.
    """

    def __init__(
        self, policy: Policy, simulation: ClusterSimulation, limits: Limits, similar: Similarity | None
    ) -> None:
        self._policy = policy
        self._settings = policy.settings.scale_up
        self._simulation = simulation
        self._limits = limits
        self._similarity = similar
        self._end = policy.stopwatch() + self._settings.max_binpacking_time.total_seconds()
        #: The sizes of groups in the first round.
        self._sizes: dict[str, int] = {}
        self._equivalence: _Equivalence | None = None

    def find(self, groups: Sequence[GroupFacts], blocked: Mapping[str, Verdict], sets: Sequence[PodSet]) -> Options:
        """Return one option for each of *groups* that is not *blocked*, can grow and would help."""
        self._sizes = self._sizes or {facts.id: facts.target_size for facts in groups}
        verdicts: dict[str, Verdict] = {}
        fits = self._fits(groups, blocked, sets, verdicts)
        able = [facts for facts in groups if facts.id in fits]
        options = []
        for facts in able:
            fit = fits[facts.id]
            if self._policy.stopwatch() > self._end:
                verdicts[facts.id] = Verdict(reason=Reason.OUT_OF_TIME)
                continue
            if not fit.fitting:
                verdicts[facts.id] = Verdict(reason=Reason.NO_HELP)
                continue
            similar = self._similar(facts, able, fits)
            estimate = self._estimate(facts, fit, self._limit(facts, similar))
            if estimate is None:
                verdicts[facts.id] = Verdict(reason=Reason.STRATEGY_FAILED, detail=self._policy.estimator[0])
            elif estimate.nodes < 1 or not estimate.pods:
                verdicts[facts.id] = Verdict(reason=Reason.NO_HELP)
            else:
                offered = self._policy.hooks.adjust_estimate(facts, fit.fitting, estimate)
                if offered.nodes < 1 or not offered.pods:
                    verdicts[facts.id] = Verdict(reason=Reason.FILTERED, detail="a hook")
                else:
                    options.append(self._option(facts, offered, similar))
        refusals = {group: fit.refusals for group, fit in fits.items()}
        if self._settings.explain_skipped_groups:
            left_out = [facts for facts in groups if facts.id not in fits and facts.template is not None]
            refusals |= {facts.id: self._try(facts, sets).refusals for facts in left_out}
        return Options(options=tuple(options), groups=verdicts, refusals=refusals)

    def _fits(
        self,
        groups: Sequence[GroupFacts],
        blocked: Mapping[str, Verdict],
        sets: Sequence[PodSet],
        verdicts: dict[str, Verdict],
    ) -> dict[str, _Fit]:
        """Return how the pods fit each group that may grow. Why the others may not grow is added to *verdicts*."""
        # Pods of later rounds were in the first one.
        self._equivalence = equivalence = self._equivalence or _Equivalence(self._simulation.cluster, sets)
        known: dict[Hashable, _Fit] = {}
        found: dict[str, _Fit] = {}
        for facts in groups:
            objection = blocked.get(facts.id) or self._objection(facts)
            if objection is not None:
                verdicts[facts.id] = objection
                continue
            key = equivalence.key_of(facts)
            if key not in known:
                known[key] = self._try(facts, sets)
            found[facts.id] = known[key]
        return found

    def _objection(self, facts: GroupFacts) -> Verdict | None:
        if facts.target_size >= facts.max_size:
            return Verdict(reason=Reason.GROUP_AT_MAX, detail=f"{facts.target_size} of {facts.max_size}")
        if (short := none_available(facts)) is not None:
            return short
        if self._left_of_loop(facts) == 0:
            most = self._settings.max_nodes_per_scale_up
            return Verdict(reason=Reason.LIMIT_NODES, detail=f"{most} for a group in one loop")
        if facts.options.zero_or_max_node_scaling:
            return self._limits.objection(facts, facts.max_size - facts.target_size)
        return self._limits.objection(facts, 1)

    def _try(self, facts: GroupFacts, sets: Sequence[PodSet]) -> _Fit:
        """Try each set of pods on one new node."""
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
        return _Fit(fitting=tuple(fitting), refusals=refusals)

    def _similar(
        self, facts: GroupFacts, able: Sequence[GroupFacts], fits: Mapping[str, _Fit]
    ) -> tuple[GroupFacts, ...]:
        """Return the groups similar to *facts* that at least the same pods fit."""
        if self._similarity is None:
            return ()
        wanted = {pods.keys[0] for pods in fits[facts.id].fitting}
        return tuple(
            other
            for other in self._similarity.among(facts, able)
            if wanted <= {pods.keys[0] for pods in fits[other.id].fitting}
        )

    def _limit(self, facts: GroupFacts, similar: Sequence[GroupFacts]) -> int:
        own = sum(max(0, each.room) for each in (facts, *similar))
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
        """Return how many more nodes the settings let a group get in this loop; None if there is no limit."""
        most = self._settings.max_nodes_per_scale_up
        return max(0, most - facts.target_size + self._sizes[facts.id]) if most else None

    def _estimate(self, facts: GroupFacts, fit: _Fit, limit: int) -> Estimate | None:
        name, estimator = self._policy.estimator
        if flag(self._policy.faults, name, estimator, "by_template"):
            for known_limit, known in fit.estimates.items():
                if known is not None and _holds_for(known, known_limit, limit, len(fit.fitting)):
                    return known
        estimate = self._ask(name, estimator, facts, fit, limit)
        if estimate is None and not isinstance(estimator, Binpacking):
            # Pods don't wait because of a plugin.
            estimate = self._ask("binpacking", Binpacking(Binpacking.Config()), facts, fit, limit)
        fit.estimates[limit] = estimate
        return estimate

    def _ask(self, name: str, estimator: Estimator, facts: GroupFacts, fit: _Fit, limit: int) -> Estimate | None:
        """Return what *estimator* says, None if it fails."""

        def ask() -> object:
            with lend(self._simulation) as simulation:
                return estimator.estimate(facts, fit.fitting, simulation, limit)

        returns = estimate_for(fit.fitting, limit)
        return self._policy.faults.call(name, "estimate", ask, default=None, returns=returns)


def _holds_for(known: Estimate, known_limit: int, limit: int, sets: int) -> bool:
    """Tell whether an estimate would be the same with another limit: if neither limit affects it."""
    # Each set may have left one node empty that counted for the limit.
    most = known.nodes + sets
    return limit == known_limit or (most < limit and most < known_limit)


def _labels_that_matter(cluster: Cluster, pods: PodClass) -> frozenset[str]:
    """Return the labels of nodes that matter for *pods*: what they ask for, and what other pods ask of them."""
    others = inter_pod_affinity.dislikers(cluster, pods)
    keys = [rule.key for rule in pods.spread]
    keys += [term.key for term in (*pods.affinity, *pods.anti_affinity, *(term for _, term in others))]
    return pods.node_labels.union(keys)
