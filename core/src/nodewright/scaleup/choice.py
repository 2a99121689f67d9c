"""The choice among options: expanders narrow them down or plan several, hooks may refuse."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from random import Random

from nodewright.api.expander import ExpanderContext
from nodewright.api.notice import Notice
from nodewright.api.option import Option, PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.plugins.prices import GuardedPricing
from nodewright.plugins.results import optional, part_of
from nodewright.policy import Policy
from nodewright.scaleup.planned import hold, plan_for
from nodewright.scheduling import ClusterSimulation
from nodewright.world import World


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is taken, and what was said about the rest."""

    #: One option for each group that grows.
    taken: tuple[Option, ...] = ()
    #: The expander whose plan this is; empty if options were narrowed down to one.
    planned_by: str = ""
    #: Vetoes by group.
    refused: dict[str, Verdict] = field(default_factory=dict)
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Narrowed:
    """What the chain has left: equally good options, or a plan."""

    options: Sequence[Option]
    planned_by: str = ""


def choose(
    options: Sequence[Option],
    world: World,
    policy: Policy,
    simulation: ClusterSimulation,
    room: int | None,
    now: datetime,
    pending: Sequence[PodSet] = (),
) -> Choice:
    """Return what the expanders chose among *options* and nobody vetoed; the cluster may gain *room* nodes."""
    context = ExpanderContext(
        now=now,
        random=Random(f"{policy.settings.seed} {now.isoformat()}"),
        cluster_size=simulation.size,
        room=room,
        pending=pending,
        pricing={name: GuardedPricing(name, model, policy.faults) for name, model in world.pricing.items()},
        simulation=simulation,
        config_maps=world.config_maps,
    )
    left = list(options)
    refused: dict[str, Verdict] = {}
    taken: tuple[Option, ...] = ()
    planned_by = ""
    while left and not taken:
        narrowed = _narrow(left, policy, context, simulation)
        if not narrowed.options:
            break
        planned_by = narrowed.planned_by
        if planned_by:
            wanted = narrowed.options[: policy.settings.scale_up.options_per_loop or None]
        else:
            wanted = [_one_of(narrowed.options, context.random)]
        vetoes = {option.group.id: veto for option in wanted if (veto := _veto(option, policy))}
        refused |= vetoes
        taken = tuple(option for option in wanted if option.group.id not in vetoes)
        if not vetoes:
            break
        left = [option for option in left if option.group.id not in vetoes]
    notices = tuple(dict.fromkeys(context.notices))
    return Choice(taken=taken, planned_by=planned_by if taken else "", refused=refused, notices=notices)


def _narrow(
    options: Sequence[Option], policy: Policy, context: ExpanderContext, simulation: ClusterSimulation
) -> _Narrowed:
    for index, (name, expander) in enumerate(policy.expanders.items()):
        # One option is no choice; but the first expander may have something against it.
        if not options or (index and len(options) == 1):
            break
        checked = optional(plan_for(options, context.pending))
        kept = part_of(options, Option, lambda option: f"an option to grow {option.group.id}")
        with simulation.fork():
            plan = policy.faults.call(name, "plan", expander.plan, options, context, default=None, returns=checked)
        held = hold(plan or (), simulation, context.room)
        if held:
            return _Narrowed(options=held, planned_by=name)
        with simulation.fork():
            options = policy.faults.call(name, "best", expander.best, options, context, default=options, returns=kept)
    return _Narrowed(options=options)


def _one_of(options: Sequence[Option], random: Random) -> Option:
    return options[0] if len(options) == 1 else random.choice(options)


def _veto(option: Option, policy: Policy) -> Verdict | None:
    veto = policy.hooks.veto_scale_up(option)
    return None if veto is None else Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")
