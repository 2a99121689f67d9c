"""The choice among options: expanders narrow them down or plan several, hooks may refuse."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from nodewright.api.expander import ExpanderContext
from nodewright.api.option import Option
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.outside import Outside
from nodewright.decision.scaleup.planned import hold, most_helpful, plan_for
from nodewright.plugins.results import optional, part_of
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is taken, and what was said about the rest."""

    #: One option; several, and of a group perhaps more than one, if it is a plan.
    taken: tuple[Option, ...] = ()
    #: The expander whose plan this is; empty if options were narrowed down to one.
    planned_by: str = ""
    #: Vetoes by group.
    refused: dict[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Narrowed:
    """What the chain has left: equally good options, or a plan."""

    options: Sequence[Option]
    planned_by: str = ""


def choose(
    options: Sequence[Option],
    policy: Policy,
    context: ExpanderContext,
    simulation: ClusterSimulation,
    outside: Outside,
    *,
    most: int | None,
) -> Choice:
    """Return what the expanders chose among *options* and nobody vetoed; of a plan, *most* groups may grow."""
    left = list(options)
    refused: dict[str, Verdict] = {}
    taken: tuple[Option, ...] = ()
    planned_by = ""
    while left and not taken:
        narrowed = _narrow(left, policy, context, simulation, outside)
        if not narrowed.options:
            break
        planned_by = narrowed.planned_by
        if not planned_by:
            wanted = [context.whose_turn(narrowed.options)]
        else:
            wanted = list(narrowed.options) if most is None else most_helpful(narrowed.options, most)
        vetoes = {option.group.id: veto for option in wanted if (veto := _veto(option, policy))}
        refused |= vetoes
        taken = tuple(option for option in wanted if option.group.id not in vetoes)
        if not vetoes:
            break
        left = [option for option in left if option.group.id not in vetoes]
    return Choice(taken=taken, planned_by=planned_by if taken else "", refused=refused)


def _narrow(
    options: Sequence[Option],
    policy: Policy,
    context: ExpanderContext,
    simulation: ClusterSimulation,
    outside: Outside,
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
            if expander.asks_outside:
                options = outside.best(name, expander, options, context)
            else:
                options = policy.faults.call(
                    name, "best", expander.best, options, context, default=options, returns=kept
                )
    return _Narrowed(options=options)


def _veto(option: Option, policy: Policy) -> Verdict | None:
    veto = policy.hooks.veto_scale_up(option)
    return None if veto is None else Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")
