"""The search for the cheapest plan: which ways to fill nodes are worth a look, and how far off the answer may be."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from nodewright_least_cost.filling import all_fillings
from nodewright_least_cost.greedy import greedy_plans
from nodewright_least_cost.problem import Filling, Offer, Problem, Purchase, total
from nodewright_least_cost.program import Column, Relaxed, best_filling, relaxed, whole

#: Steps of looking for all ways to fill a node, over all offers, before only promising ones are looked for.
_STEPS = 20_000
#: Most columns of a program in which every way to fill every node is present.
_COLUMNS = 4_000
#: Part of the time that goes into finding columns; the rest is for buying whole nodes.
_PREPARATION = 0.7
_EPSILON = 1e-9


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to buy, and how far it can be from the cheapest."""

    purchases: tuple[Purchase, ...]
    cost: float
    #: Pods of each set that have no place.
    left: Filling
    #: How much of its cost could be saved at most, as a share; 0 if it is proven to be the cheapest.
    gap: float


def cheapest_plan(problem: Problem, seconds: float, gap: float, elapsed: Callable[[], float]) -> Plan:
    """Return the cheapest plan that can be found in *seconds*, or one proven to be within *gap* of it.

    Serving a pod goes before cost. *elapsed* tells the seconds since the beginning.
    """
    starts = list(greedy_plans(problem))
    columns = _columns_of(starts)
    if not columns:
        return Plan(purchases=(), cost=0.0, left=problem.demand, gap=0.0)
    everything = _every_column(problem)
    bound = 0.0
    if everything is not None:
        columns = list(dict.fromkeys([*columns, *everything]))
    else:
        columns, bound = _promising_columns(problem, columns, lambda: seconds * _PREPARATION - elapsed())
    parts = relaxed(problem, columns)
    if parts is not None:
        starts += greedy_plans(problem, parts.purchases)
        columns = list(dict.fromkeys([*columns, *_columns_of(starts)]))
    best: Sequence[Purchase] = min(starts, key=problem.objective)
    found = whole(problem, columns, best, seconds - elapsed(), gap)
    if found is not None:
        best = min((found.purchases, best), key=problem.objective)
        if everything is not None:
            bound = found.bound
    objective, cost = problem.objective(best), problem.cost(best)
    missing = max(0.0, objective - bound)
    return Plan(
        purchases=tuple(best),
        cost=cost,
        left=problem.left(best),
        gap=min(1.0, missing / cost) if missing > 1e-6 * objective else 0.0,
    )


def _columns_of(plans: Iterable[Sequence[Purchase]]) -> list[Column]:
    return list(dict.fromkeys((each.offer, each.filling) for plan in plans for each in plan))


def _every_column(problem: Problem) -> list[Column] | None:
    """Return all ways to fill all nodes; None if there are too many."""
    columns: list[Column] = []
    for number in range(len(problem.offers)):
        fillings = all_fillings(problem, number, _STEPS // len(problem.offers))
        if fillings is None or len(columns) + len(fillings) > _COLUMNS:
            return None
        columns += [(number, filling) for filling in fillings]
    return columns


def _promising_columns(
    problem: Problem, columns: list[Column], left: Callable[[], float]
) -> tuple[list[Column], float]:
    """Add columns as long as buying parts of nodes gets cheaper by it, and return them with a bound of all costs.

    What pods are worth at the present prices says which filling of a node would be worth more than the node costs.
    """
    known = dict.fromkeys(columns)
    bound = 0.0
    exact = False
    while left() > 0:
        prices = relaxed(problem, list(known))
        if prices is None:
            break
        found = _fillings(problem, prices, left, exact=exact)
        bound = max(bound, _bound(problem, prices, [best for _, best in found]))
        better = [column for column, _ in found if column not in known and _gain(problem, prices, column) > _EPSILON]
        if exact and not better:
            break
        # Once the quick way finds nothing any more, the thorough one is worth its time.
        exact = exact or not better
        known |= dict.fromkeys(better)
    return list(known), bound


def _fillings(
    problem: Problem, prices: Relaxed, left: Callable[[], float], *, exact: bool
) -> list[tuple[Column, float]]:
    """Return for each offer a filling worth much at these prices, and a bound of what one can be worth."""
    found = []
    for number, offer in enumerate(problem.offers):
        nothing = (0,) * len(problem.demand), _rough(problem, prices, offer)
        pays = nothing[1] > offer.price and left() > 0
        answer = best_filling(problem, offer, prices.pods, left(), exact=exact) if pays else None
        filling, best = answer or nothing
        found.append(((number, filling), best))
    return found


def _bound(problem: Problem, prices: Relaxed, best: Sequence[float]) -> float:
    """Return what all pods cost at least, if a node of each offer can hold pods worth *best* at these prices.

    Either every offer is as scarce as it is, or pods are worth so little that no node pays: the better of both.
    """
    demanded = total(prices.pods, problem.demand)
    won = sum(max(0.0, value - offer.price) * offer.limit for value, offer in zip(best, problem.offers, strict=True))
    pays = [offer.price / value for value, offer in zip(best, problem.offers, strict=True) if value > 0]
    return max(demanded - won, demanded * min(1.0, *pays) if pays else 0.0, 0.0)


def _rough(problem: Problem, prices: Relaxed, offer: Offer) -> float:
    """Return a bound of what pods on one node of *offer* can be worth: if its scarcest resource were the only one."""
    bounds = [float("inf")]
    for row, free in enumerate(offer.free):
        sets = [index for index, most in enumerate(offer.most) if most]
        if all(problem.sizes[index][row] for index in sets):
            bounds.append(max((prices.pods[index] * free / problem.sizes[index][row] for index in sets), default=0.0))
    return min(bounds)


def _gain(problem: Problem, prices: Relaxed, column: Column) -> float:
    """Return what a node that is filled like this is worth above its price."""
    number, filling = column
    return total(prices.pods, filling) - problem.offers[number].price - prices.nodes[number]
