"""The choice among options: expanders narrow them down or plan several, and hooks may refuse what is chosen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from nodewright.api.expander import ExpanderContext
from nodewright.api.notice import Notice
from nodewright.api.option import Option
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.policy import Policy
from nodewright.decision.scaleup.answers import Answers
from nodewright.decision.scaleup.expander_plan import checked_plan, most_helpful, workable
from nodewright.plugins.results import all_of, flag, optional, part_of
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.lent import lend


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The options that are taken, and the verdicts on refused ones."""

    #: One option. If it is a plan, there may be several, even of one group.
    taken: tuple[Option, ...] = ()
    #: The expander whose plan this is; empty if options were narrowed down to one.
    planned_by: str = ""
    #: Expanders that failed: they had no part in it.
    failed: tuple[str, ...] = ()
    #: Vetoes by group.
    refused: dict[str, Verdict] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Narrowed:
    """What the chain of expanders leaves: equally good options, or a plan."""

    options: Sequence[Option]
    planned_by: str = ""
    failed: tuple[str, ...] = ()


class Chooser:
    """Chooses among options with the expanders of *policy*, which may try things in *simulation*. For one decision."""

    def __init__(self, policy: Policy, simulation: ClusterSimulation) -> None:
        self._policy = policy
        self._simulation = simulation
        #: What expanders that ask outside have answered.
        self.answers = Answers(policy)

    def choose(self, options: Sequence[Option], context: ExpanderContext, *, most: int | None) -> Choice:
        """Return what the expanders choose among *options* and no hook vetoes; a plan may grow *most* groups."""
        left = list(options)
        refused: dict[str, Verdict] = {}
        taken: tuple[Option, ...] = ()
        planned_by = ""
        failed: tuple[str, ...] = ()
        while left and not taken:
            narrowed = self._narrow(left, context)
            if not narrowed.options:
                break
            planned_by, failed = narrowed.planned_by, narrowed.failed
            if not planned_by:
                wanted = [context.whose_turn(_most_helpful(narrowed.options))]
            else:
                wanted = list(narrowed.options) if most is None else most_helpful(narrowed.options, most)
            vetoes = {option.group.id: veto for option in wanted if (veto := self._veto(option, context.now))}
            refused |= vetoes
            taken = tuple(option for option in wanted if option.group.id not in vetoes)
            if not vetoes:
                break
            left = [option for option in left if option.group.id not in vetoes]
        return Choice(taken=taken, planned_by=planned_by if taken else "", failed=failed, refused=refused)

    def _narrow(self, options: Sequence[Option], context: ExpanderContext) -> _Narrowed:
        faults = self._policy.faults
        failed: list[str] = []
        for index, (name, expander) in enumerate(self._policy.expanders.items()):
            # One option leaves no choice; but the first expander may reject it.
            if not options or (index and len(options) == 1):
                break
            checked = optional(checked_plan(options, context.pending))
            kept = part_of(options, Option, lambda option: f"an option to grow {option.group.id}")
            ask = partial(self._ask, expander.plan, options, context)
            plan: Sequence[Option] | None = faults.call(name, "plan", ask, default=None, returns=checked)
            works = workable(plan or (), self._simulation, context.room)
            if works:
                return _Narrowed(options=works, planned_by=name)
            ask = partial(self._ask, expander.best, options, context)
            if flag(faults, name, expander, "asks_outside"):
                best = self.answers.best(name, ask, options, context)
            else:
                best = faults.call(name, "best", ask, default=None, returns=kept)
            if best is None:
                failed.append(name)
            else:
                options = best
        return _Narrowed(options=options, failed=tuple(failed))

    def _ask(
        self,
        method: Callable[[Sequence[Option], ExpanderContext], object],
        options: Sequence[Option],
        context: ExpanderContext,
    ) -> object:
        """Return what *method* of an expander answers; it can change nothing but a simulation that is lent to it."""
        notices = list(context.notices)
        try:
            with lend(self._simulation) as simulation:
                return method(tuple(options), replace(context, simulation=simulation, notices=notices))
        finally:
            context.notices.extend(all_of(Notice, context.notices)(notices)[len(context.notices) :])

    def _veto(self, option: Option, now: datetime) -> Verdict | None:
        veto = self._policy.hooks.veto_scale_up(option, now)
        return None if veto is None else Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")


def _most_helpful(options: Sequence[Option]) -> Sequence[Option]:
    """Return those of equally good *options* that help most pods."""
    most = max(option.pod_count for option in options)
    return [option for option in options if option.pod_count == most]
