"""The scale-up of one loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import Grow, OptionVerdict
from nodewright.api.notice import Notice
from nodewright.api.option import Option
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.health import Assessment
from nodewright.policy import Policy
from nodewright.scaleup.choice import Choice, choose
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
    notices: tuple[Notice, ...] = ()


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
    choice = choose(offered, world, policy, simulation, room, now, pending.sets)
    for pods in pending.sets:
        verdict = _pod_verdict(pods.keys[0], len(groups), found.rejections)
        verdicts.update(dict.fromkeys(pods.keys, verdict))
    why = _why(choice, len(offered), policy)
    grow = []
    for option in choice.taken:
        helped = tuple(key for pods in option.pods for key in pods.keys)
        verdicts.update(dict.fromkeys(helped, Verdict(reason=Reason.HELPED, detail=option.group.id)))
        grow.append(
            Grow(
                group=option.group.id,
                count=option.nodes,
                from_size=option.group.target_size,
                pods=helped,
                verdict=Verdict(reason=Reason.CHOSEN, detail=why),
            )
        )
    return ScaleUpPlan(
        grow=tuple(grow),
        pods=verdicts,
        rejections=found.rejections,
        groups=found.groups,
        options=tuple(_judge(option, choice, offered) for option in found.options),
        notices=choice.notices,
    )


def _pod_verdict(key: str, group_count: int, rejections: dict[str, dict[str, Verdict]]) -> Verdict:
    if len(rejections.get(key, {})) == group_count:
        return Verdict(reason=Reason.NO_GROUP_FITS)
    return Verdict(reason=Reason.WAITING)


def _judge(option: Option, choice: Choice, offered: Sequence[Option]) -> OptionVerdict:
    taken = next((each for each in choice.taken if each.group.id == option.group.id), None)
    if taken is not None:
        option, verdict = taken, Verdict(reason=Reason.CHOSEN)
    elif all(each.group.id != option.group.id for each in offered):
        verdict = Verdict(reason=Reason.FILTERED, detail="a hook")
    else:
        verdict = choice.refused.get(option.group.id, Verdict(reason=Reason.NOT_CHOSEN))
    return OptionVerdict(group=option.group.id, nodes=option.nodes, pods=option.pod_count, verdict=verdict)


def _why(choice: Choice, options: int, policy: Policy) -> str:
    if choice.planned_by:
        return f"part of the plan of {choice.planned_by} for {options} options"
    if options == 1:
        return "the only option"
    return f"best of {options} options by {', '.join(policy.expanders) or 'chance'}"
