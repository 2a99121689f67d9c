"""The scale-up of one loop."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from random import Random

from nodewright.api.decision import Answer, Grow, OptionVerdict
from nodewright.api.expander import ExpanderContext
from nodewright.api.notice import Notice
from nodewright.api.option import PodSet
from nodewright.api.processor import Intended, ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.demand.pending import PendingPods, find_pending
from nodewright.decision.demand.returning import returning_pods
from nodewright.decision.health import Assessment
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import Intention
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.expansion import Expansion
from nodewright.decision.scaleup.gangs import TORN, gang_of, torn
from nodewright.decision.scaleup.outside import Outside
from nodewright.decision.world import World
from nodewright.plugins.pricing import GuardedPricing
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class ScaleUpPlan:
    """What to grow and why, and why not more."""

    grow: tuple[Grow, ...] = ()
    #: How many options were taken.
    taken: int = 0
    pods: dict[str, Verdict] = field(default_factory=dict)
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    groups: dict[str, Verdict] = field(default_factory=dict)
    options: tuple[OptionVerdict, ...] = ()
    notices: tuple[Notice, ...] = ()
    answers: tuple[Answer, ...] = ()
    #: What the nodes are meant for.
    intentions: tuple[Intention, ...] = ()
    #: Whether pods have only just come, so that neither nodes for them nor removals are begun.
    pods_just_came: bool = False
    #: When pods will have become old enough to be looked at again.
    again: datetime | None = None


def plan_scale_up(
    world: World,
    health: Assessment,
    simulation: ClusterSimulation,
    policy: Policy,
    turn: int,
    now: datetime,
    *,
    leaving: Iterable[str] = (),
    intended: Sequence[Intended] = (),
) -> ScaleUpPlan:
    """Return which groups grow for the pending pods. Pods that fit on nodes in *simulation* are placed there.

    Whose turn it is among equal options tells *turn*. The pods on nodes that are *leaving*, which are not in
    *simulation*, will be pending soon. What nodes on their way were ordered for is *intended*.
    """
    groups = tuple(group.facts for group in health.groups)
    context = ProcessorContext(
        now=now,
        simulation=simulation,
        groups=groups,
        intended=intended,
        expendable_priority_cutoff=policy.settings.scale_up.expendable_priority_cutoff,
        returning=returning_pods(world.cluster, leaving, policy.settings.scale_up.allowed_schedulers),
    )
    with policy.timings.time("filterOutSchedulable"):
        pending = find_pending(world, policy, context)
    plan = _plan(pending, world, health, simulation, policy, turn, now)
    return replace(plan, notices=pending.notices + plan.notices, pods_just_came=pending.all_new, again=pending.again)


def _plan(
    pending: PendingPods,
    world: World,
    health: Assessment,
    simulation: ClusterSimulation,
    policy: Policy,
    turn: int,
    now: datetime,
) -> ScaleUpPlan:
    if not pending.sets:
        return ScaleUpPlan(pods=pending.verdicts)
    if not policy.settings.scale_up.from_zero and not health.readiness.ready:
        off = Verdict(reason=Reason.NO_SCALE_FROM_ZERO)
        return ScaleUpPlan(pods=pending.verdicts, groups={group.facts.id: off for group in health.groups})
    if _is_full(world, policy):
        return _nothing(pending, Verdict(reason=Reason.LIMIT_NODES))
    return _expand(world, health, simulation, policy, pending, turn, now)


def _expand(
    world: World,
    health: Assessment,
    simulation: ClusterSimulation,
    policy: Policy,
    pending: PendingPods,
    turn: int,
    now: datetime,
) -> ScaleUpPlan:
    context = ExpanderContext(
        now=now,
        random=Random(f"{policy.settings.seed} {now.isoformat()}"),
        turn=policy.settings.seed + turn,
        cluster_size=simulation.size,
        pricing={name: GuardedPricing(name, model, policy.faults) for name, model in world.pricing.items()},
        simulation=simulation,
        config_maps=world.config_maps,
    )
    outside = Outside(policy)
    sets: Sequence[PodSet] = pending.sets
    left_out: dict[str, Verdict] = {}
    while True:
        # What was ordered is not there yet: whoever comes next must not count on it.
        with simulation.fork():
            expansion = Expansion(world, health, policy, simulation, context, outside)
            expansion.serve(sets)
        gangs = torn(sets, expansion.helped)
        if not gangs:
            break
        left_out |= {key: TORN for pods in sets if gang_of(pods) in gangs for key in pods.keys}
        sets = [pods for pods in sets if gang_of(pods) not in gangs]
    return ScaleUpPlan(
        grow=expansion.grow,
        taken=expansion.taken,
        pods={**pending.verdicts, **left_out, **expansion.pods},
        rejections={key: against for key, against in expansion.rejections.items() if against},
        groups=dict(expansion.groups),
        options=tuple(expansion.options),
        notices=tuple(dict.fromkeys(context.notices)),
        answers=outside.answers,
        intentions=tuple(expansion.intentions),
    )


def _is_full(world: World, policy: Policy) -> bool:
    """Tell whether there are as many nodes in service as there may be."""
    maximum = policy.settings.limits.nodes.max
    nodes = world.cluster.nodes.values()
    return bool(maximum) and sum(is_ready(node, world, policy.settings.templates) for node in nodes) >= maximum


def _nothing(pending: PendingPods, why: Verdict) -> ScaleUpPlan:
    waiting = {key: why for pods in pending.sets for key in pods.keys}
    return ScaleUpPlan(pods={**pending.verdicts, **waiting})
