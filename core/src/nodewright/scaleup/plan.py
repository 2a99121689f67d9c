"""The scale-up of one loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from nodewright.api.decision import Grow, OptionVerdict
from nodewright.api.expander import ExpanderContext
from nodewright.api.option import Option
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.health import Assessment
from nodewright.plugins.results import part_of
from nodewright.policy import Policy
from nodewright.scaleup.options import find_options
from nodewright.scaleup.pending import find_pending
from nodewright.scheduling import ClusterSimulation
from nodewright.world import World


@dataclass(frozen=True, kw_only=True)
class ScaleUpPlan:
    """What to grow and why, and why not more."""

    grow: tuple[Grow, ...] = ()
    pods: dict[str, Verdict] = field(default_factory=dict)
    rejections: dict[str, dict[str, Verdict]] = field(default_factory=dict)
    groups: dict[str, Verdict] = field(default_factory=dict)
    options: tuple[OptionVerdict, ...] = ()


def plan_scale_up(
    world: World, health: Assessment, simulation: ClusterSimulation, policy: Policy, now: datetime
) -> ScaleUpPlan:
    """Return which group grows for the pending pods. Pods that fit on nodes in *simulation* are placed there."""
    groups = tuple(group.facts for group in health.groups)
    context = ProcessorContext(
        now=now,
        simulation=simulation,
        groups=groups,
        expendable_priority_cutoff=policy.settings.scale_up.expendable_priority_cutoff,
    )
    pending = find_pending(world.cluster, policy, context)
    verdicts = dict(pending.verdicts)
    if not pending.sets:
        return ScaleUpPlan(pods=verdicts)
    if not policy.settings.scale_up.from_zero and not world.cluster.nodes:
        return ScaleUpPlan(
            pods=verdicts, groups={group.id: Verdict(reason=Reason.NO_SCALE_FROM_ZERO) for group in groups}
        )
    maximum = policy.settings.limits.nodes.max
    room = max(0, maximum - simulation.size) if maximum else None
    found = find_options(health.groups, pending.sets, simulation, policy, room)
    offered = policy.hooks.adjust_options(found.options)
    chosen, refused = _choose(offered, world, policy, simulation.size, now)
    for pods in pending.sets:
        verdict = _pod_verdict(pods.keys[0], len(groups), found.rejections)
        verdicts.update(dict.fromkeys(pods.keys, verdict))
    rejections = {key: found.rejections[key] for key in verdicts if key in found.rejections}
    judged = tuple(_judge(option, chosen, refused) for option in found.options)
    if chosen is None:
        return ScaleUpPlan(pods=verdicts, rejections=rejections, groups=found.groups, options=judged)
    helped = tuple(key for pods in chosen.pods for key in pods.keys)
    verdicts.update(dict.fromkeys(helped, Verdict(reason=Reason.HELPED, detail=chosen.group.id)))
    grow = Grow(
        group=chosen.group.id,
        count=chosen.nodes,
        from_size=chosen.group.target_size,
        pods=helped,
        verdict=Verdict(reason=Reason.CHOSEN, detail=_why(len(found.options), policy)),
    )
    return ScaleUpPlan(grow=(grow,), pods=verdicts, rejections=rejections, groups=found.groups, options=judged)


def _choose(
    options: Sequence[Option], world: World, policy: Policy, size: int, now: datetime
) -> tuple[Option | None, dict[str, Verdict]]:
    """Return the option that the expanders chose and nobody vetoed, and the vetoes by group."""
    random = Random(f"{policy.settings.seed} {now.isoformat()}")
    context = ExpanderContext(now=now, random=random, cluster_size=size, pricing=dict(world.pricing))
    left = list(options)
    refused: dict[str, Verdict] = {}
    while left:
        best = _narrow(left, policy, context)
        if not best:
            break
        chosen = best[0] if len(best) == 1 else random.choice(best)
        veto = policy.hooks.veto_scale_up(chosen)
        if veto is None:
            return chosen, refused
        refused[chosen.group.id] = Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")
        left.remove(chosen)
    return None, refused


def _narrow(options: Sequence[Option], policy: Policy, context: ExpanderContext) -> Sequence[Option]:
    for name, expander in policy.expanders.items():
        if len(options) < 2:
            break
        kept = part_of(options, Option, lambda option: f"an option to grow {option.group.id}")
        options = policy.faults.call(name, "best", expander.best, options, context, default=options, returns=kept)
    return options


def _pod_verdict(key: str, group_count: int, rejections: dict[str, dict[str, Verdict]]) -> Verdict:
    if len(rejections.get(key, {})) == group_count:
        return Verdict(reason=Reason.NO_GROUP_FITS)
    return Verdict(reason=Reason.WAITING)


def _judge(option: Option, chosen: Option | None, refused: dict[str, Verdict]) -> OptionVerdict:
    if option is chosen:
        verdict = Verdict(reason=Reason.CHOSEN)
    else:
        verdict = refused.get(option.group.id, Verdict(reason=Reason.NOT_CHOSEN))
    return OptionVerdict(group=option.group.id, nodes=option.nodes, pods=option.pod_count, verdict=verdict)


def _why(options: int, policy: Policy) -> str:
    if options == 1:
        return "the only option"
    return f"best of {options} options by {', '.join(policy.expanders) or 'chance'}"
