"""Options: what growing each group would do for the pending pods."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nodewright.api.estimator import Estimate
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.health import GroupHealth
from nodewright.plugins.results import instance_of
from nodewright.policy import Policy
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of all groups, with what speaks against the rest."""

    options: tuple[Option, ...]
    #: Why a group takes no part.
    groups: dict[str, Verdict] = field(default_factory=dict)
    #: Why a pod does not fit a new node of a group: by pod, then group.
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)


def find_options(
    groups: Sequence[GroupHealth],
    sets: Sequence[PodSet],
    simulation: ClusterSimulation,
    policy: Policy,
    room: int | None,
) -> Options:
    """Return one option for each group that can grow and would help; *room* is how many nodes the cluster may gain."""
    found = Options(options=())
    options = []
    for health in groups:
        facts = health.facts
        if health.blocked is not None:
            found.groups[facts.id] = health.blocked
            continue
        fitting = _fitting(facts, sets, simulation, found.rejections)
        if not fitting:
            found.groups[facts.id] = Verdict(reason=Reason.NO_HELP)
            continue
        limit = _limit(facts, policy, room)
        if limit < 1:
            found.groups[facts.id] = Verdict(reason=Reason.LIMIT_NODES)
            continue
        estimate = _estimate(facts, fitting, simulation, policy, limit)
        if estimate is None:
            found.groups[facts.id] = Verdict(reason=Reason.STRATEGY_FAILED, detail=policy.estimator[0])
        elif estimate.nodes > 0 and estimate.pods:
            options.append(Option(group=facts, nodes=estimate.nodes, pods=estimate.pods, limit=limit))
        else:
            found.groups[facts.id] = Verdict(reason=Reason.NO_HELP)
    return Options(options=tuple(options), groups=found.groups, rejections=found.rejections)


def _fitting(
    facts: GroupFacts,
    sets: Sequence[PodSet],
    simulation: ClusterSimulation,
    rejections: dict[str, dict[str, Verdict]],
) -> list[PodSet]:
    fitting = []
    with simulation.fork() as fork:
        (name,) = fork.add_nodes(facts, 1)
        for pods in sets:
            refusal = fork.why_not(pods, name)
            if refusal is None:
                fitting.append(pods)
            else:
                for key in pods.keys:
                    rejections.setdefault(key, {})[facts.id] = refusal
    return fitting


def _limit(facts: GroupFacts, policy: Policy, room: int | None) -> int:
    limits = [facts.max_size - facts.target_size]
    if policy.settings.scale_up.max_nodes_per_scale_up > 0:
        limits.append(policy.settings.scale_up.max_nodes_per_scale_up)
    if room is not None:
        limits.append(room)
    return min(limits)


def _estimate(
    facts: GroupFacts, sets: Sequence[PodSet], simulation: ClusterSimulation, policy: Policy, limit: int
) -> Estimate | None:
    name, estimator = policy.estimator
    with simulation.fork() as fork:
        return policy.faults.call(
            name, "estimate", estimator.estimate, facts, sets, fork, limit, default=None, returns=instance_of(Estimate)
        )
