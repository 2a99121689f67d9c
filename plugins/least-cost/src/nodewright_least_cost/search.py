"""The search for the cheapest plan: which fillings of nodes to consider, and how far the result may be off."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nodewright_least_cost.filling import all_fillings, best_filling
from nodewright_least_cost.greedy import greedy_plans
from nodewright_least_cost.problem import Filling, Offer, Problem, Purchase
from nodewright_least_cost.program import Column, Program, Relaxed
from nodewright_least_cost.quotas import quotas, shared_out

#: Steps of the search for all fillings of all offers; beyond that, only promising fillings are searched for.
_STEPS = 20_000
#: The most columns of a program with all fillings.
_COLUMNS = 4_000
#: Share of the time for greedy plans at the start.
_GREED = 0.3
#: Share of the time until columns are found; the rest is for buying whole nodes.
_PREPARATION = 0.7
_EPSILON = 1e-9


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to buy, and how far that can be above the cheapest."""

    purchases: tuple[Purchase, ...]
    cost: float
    #: Pods of each set that have no place.
    left: Filling
    #: A lower bound on the cost of all plans, including the penalty for pods that are left out.
    bound: float
    #: The largest share of its cost that could be saved; 0 if it is proven to be the cheapest.
    gap: float


def cheapest_plan(problem: Problem, seconds: float, gap: float, elapsed: Callable[[], float]) -> Plan:
    """Return the cheapest plan found in *seconds*, or one proven to be within *gap* of it.

    Serving a pod comes before cost. *elapsed* returns the seconds since the start.
    """
    search = _Search(problem, gap, lambda share: seconds * share - elapsed())
    search.begin()
    if search.columns and not search.is_done():
        search.find_columns()
    if search.columns and not search.is_done():
        search.buy_whole_nodes()
    return search.plan()


class _Search:
    """The best plan so far, the columns for better ones, and a lower bound on the cost of all."""

    def __init__(self, problem: Problem, gap: float, left: Callable[[float], float]) -> None:
        self._problem = problem
        self._gap = gap
        #: Returns the seconds that are left of a share of the time.
        self._left = left
        self._best: Sequence[Purchase] = ()
        self._bound = 0.0
        #: Whether the columns contain all fillings.
        self._complete = False
        self.columns: dict[Column, None] = {}

    def begin(self) -> None:
        """Make greedy plans: at least one of each score, with pods in all cells."""
        for quota in quotas(self._problem):
            self._consider(greedy_plans(self._problem, quota))
            if self._left(_GREED) <= 0:
                return

    def is_done(self) -> bool:
        """Tell whether the best plan is proven to be good enough, or time is up."""
        return self._left(1.0) <= 0 or self._distance() <= self._gap * self._problem.cost(self._best)

    def find_columns(self) -> None:
        """Find columns: all if there are few, else as long as they make buying fractions of nodes cheaper."""
        everything = _every_column(self._problem)
        self._complete = everything is not None
        self.columns |= dict.fromkeys(everything or ())
        exact = False
        prices = self._prices()
        while prices is not None and not self._complete and self._left(_PREPARATION) > 0:
            # The values of pods show which fillings are worth more than their node costs.
            found = self._fillings(prices, exact=exact)
            self._bound = max(self._bound, _bound(self._problem, prices, [best for _, best in found]))
            better = [column for column, _ in found if column not in self.columns and self._pays(prices, column)]
            if self.is_done() or (exact and not better):
                break
            # Search exactly once the fast search finds nothing new.
            exact = exact or not better
            self.columns |= dict.fromkeys(better)
            prices = self._prices() or prices
        if prices is not None:
            if self._complete:
                self._bound = max(self._bound, prices.objective)
            # Its whole nodes are a good start.
            self._consider(greedy_plans(self._problem, self._quota(prices), prices.purchases))

    def _prices(self) -> Relaxed | None:
        return Program(self._problem, list(self.columns)).relaxed(self._left(1.0))

    def buy_whole_nodes(self) -> None:
        """Solve in whole nodes, from the best plan so far."""
        program = Program(self._problem, list(self.columns))
        # Our gap is a share of the cost; that of HiGHS is a share of the cost plus the penalty for pods left out.
        share = self._problem.cost(self._best) / (self._problem.objective(self._best) or 1.0)
        found = program.whole(self._best, self._left(1.0), self._gap * share)
        if found is not None:
            self._consider([list(found.purchases)])
            if self._complete:
                self._bound = max(self._bound, found.bound)

    def plan(self) -> Plan:
        """Return the best plan."""
        cost = self._problem.cost(self._best)
        missing = self._distance()
        significant = missing > 1e-6 * self._problem.objective(self._best)
        return Plan(
            purchases=tuple(self._best),
            cost=cost,
            left=self._problem.left(self._best),
            bound=self._bound,
            gap=min(1.0, missing / cost) if significant and cost else 0.0,
        )

    def _distance(self) -> float:
        return max(0.0, self._problem.objective(self._best) - self._bound)

    def _consider(self, plans: Iterable[Sequence[Purchase]]) -> None:
        """Keep the best plan; add the columns of all."""
        for plan in plans:
            self.columns |= dict.fromkeys((each.offer, each.filling) for each in plan)
            better = self._problem.objective(plan) < self._problem.objective(self._best) - _EPSILON
            if better and self._problem.keeps_rules(plan):
                self._best = plan

    def _quota(self, prices: Relaxed) -> list[int]:
        """Return the quota of each cell: its pods in a plan with fractions of nodes."""
        problem = self._problem
        if not problem.rules:
            return list(problem.demand)
        return shared_out(problem, range(len(problem.offers)), [int(count + _EPSILON) for count in prices.pods])

    def _fillings(self, prices: Relaxed, *, exact: bool) -> list[tuple[Column, float]]:
        """Return a valuable filling for each offer at these prices, and an upper bound on the value of any."""
        found = []
        for number, offer in enumerate(self._problem.offers):
            worth = prices.worth[number]
            nothing = (0,) * len(self._problem.demand), _rough(self._problem, worth, offer)
            left = self._left(_PREPARATION)
            pays = nothing[1] > offer.price + prices.nodes[number] and left > 0
            answer = best_filling(self._problem, number, worth, left, exact=exact) if pays else None
            filling, best = answer or nothing
            found.append(((number, filling), best))
        return found

    def _pays(self, prices: Relaxed, column: Column) -> bool:
        return prices.gain(self._problem, column) > _EPSILON


def _every_column(problem: Problem) -> list[Column] | None:
    """Return all fillings of all offers; None if there are too many."""
    columns: list[Column] = []
    for number in range(len(problem.offers)):
        fillings = all_fillings(problem, number, _STEPS // len(problem.offers))
        if fillings is None or len(columns) + len(fillings) > _COLUMNS:
            return None
        columns += [(number, filling) for filling in fillings]
    return columns


def _bound(problem: Problem, prices: Relaxed, best: Sequence[float]) -> float:
    """Return a lower bound on the cost of all pods if nodes of each offer hold pods worth at most *best*.

    It is the better of two bounds: one by the limits of offers, one by lowering values until no node pays.
    """
    won, scale = 0.0, 1.0
    for value, fee, offer in zip(best, prices.nodes, problem.offers, strict=True):
        won += max(0.0, value - fee - offer.price) * offer.limit
        if value > fee + offer.price:
            scale = min(scale, offer.price / (value - fee))
    return max(prices.objective - won, prices.objective * scale, 0.0)


def _rough(problem: Problem, worth: Sequence[float], offer: Offer) -> float:
    """Return an upper bound on the value of a node of *offer*: as if its scarcest resource were the only one."""
    bounds = [float("inf")]
    for row, free in enumerate(offer.free):
        sets = [index for index, most in enumerate(offer.most) if most]
        if all(problem.sizes[index][row] for index in sets):
            bounds.append(max((worth[index] * free / problem.sizes[index][row] for index in sets), default=0.0))
    return min(bounds)
