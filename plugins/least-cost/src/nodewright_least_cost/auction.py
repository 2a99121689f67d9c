"""The choice among plans: the one that works in simulation and costs least wins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nodewright.api import ExpanderContext, Option

from nodewright_least_cost.market import Market, sets_of
from nodewright_least_cost.proposal import Proposal
from nodewright_least_cost.rounds import rounds
from nodewright_least_cost.search import Plan, cheapest_plan

#: Attempts to spread pods over nodes more evenly.
_ATTEMPTS = 4
_EPSILON = 1e-6


@dataclass(frozen=True, kw_only=True)
class Winner:
    """A plan that works, and how far it can be above the cheapest, as a share of its cost."""

    proposal: Proposal
    gap: float


class Auction:
    """Collects plans for all pods that *options* can help; *elapsed* returns the seconds since the start."""

    def __init__(
        self,
        options: Sequence[Option],
        context: ExpanderContext,
        seconds: float,
        gap: float,
        elapsed: Callable[[], float],
    ) -> None:
        self._options = options
        self._context = context
        self._seconds = seconds
        self._gap = gap
        self._elapsed = elapsed
        self._sets = sets_of(options, context.pending)
        self._proposals: list[Proposal] = []

    def winner(self) -> Winner:
        """Return the plan that helps the most pods, and of those the cheapest."""
        market = self._market({})
        plan = cheapest_plan(market.problem, self._seconds, self._gap, self._elapsed)
        served = sum(market.problem.demand) - sum(plan.left)
        if self._propose(market, plan) < served or (any(plan.left) and market.problem.rules):
            self._even_out(market, plan)
            self._go_by_rounds()
        best = min(self._proposals, key=lambda each: (-each.helped, each.cost))
        missing = sum(market.problem.demand) - best.helped
        above = best.cost + market.problem.penalty * missing - plan.bound
        significant = above > _EPSILON * best.cost
        return Winner(proposal=best, gap=min(1.0, above / best.cost) if significant and best.cost else 0.0)

    def _even_out(self, market: Market, plan: Plan) -> None:
        """Plan anew, with ever fewer pods per node of those that are spread over nodes, until the plan works."""
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1 or self._is_over()
            caps = market.least_caps() if last else market.even_caps(plan.purchases)
            if not caps:
                return
            market = self._market(caps)
            plan = cheapest_plan(market.problem, self._seconds, self._gap, self._elapsed)
            if self._propose(market, plan) == sum(market.problem.demand) - sum(plan.left) or last:
                return

    def _go_by_rounds(self) -> None:
        """Take options one after the other while there is time."""
        context = self._context
        self._proposals += rounds(self._options, self._sets, context.simulation, context.room, self._is_over)

    def _propose(self, market: Market, plan: Plan) -> int:
        """Add what works of *plan* to the proposals, and return how many pods it helps."""
        self._proposals.append(market.proposal(plan.purchases, self._is_over))
        return self._proposals[-1].helped

    def _is_over(self) -> bool:
        return self._elapsed() > self._seconds

    def _market(self, caps: Mapping[int, int]) -> Market:
        return Market(self._options, self._sets, self._context.simulation, self._context.room, caps)
