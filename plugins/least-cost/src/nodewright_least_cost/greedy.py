"""Plans that take the best option again and again: where the search for a better one starts."""

from collections.abc import Callable, Iterator, Sequence

from nodewright_least_cost.filling import fill
from nodewright_least_cost.problem import Filling, Problem, Purchase, total

#: Tells how good it is to buy nodes of one offer with these fillings; the least is the best.
Score = Callable[[Problem, Sequence[Purchase]], float]


def greedy_plans(problem: Problem, begun: Sequence[Purchase] = ()) -> Iterator[list[Purchase]]:
    """Yield the plan of each rule: what an expander of options would come to, loop after loop, after *begun*."""
    worth = _worth(problem)

    def price_for_worth(problem: Problem, purchases: Sequence[Purchase]) -> float:
        gained = sum(each.nodes * total(worth, each.filling) for each in purchases)
        return problem.cost(purchases) / gained if gained else float("inf")

    yield _repeat(problem, begun, price_for_worth, _one_kind)
    for score in (price_for_worth, _price_per_pod, _waste):
        yield _repeat(problem, begun, score, _serve_all)


def _repeat(
    problem: Problem, begun: Sequence[Purchase], score: Score, option: Callable[..., list[Purchase]]
) -> list[Purchase]:
    """Take the best *option* of all offers until none helps."""
    taken = list(begun)
    left = problem.left(taken)
    limits = [offer.limit for offer in problem.offers]
    room = sum(limits) if problem.room is None else problem.room
    for each in taken:
        limits[each.offer] -= each.nodes
        room -= each.nodes
    while any(left) and room:
        options = (option(problem, number, left, min(limit, room)) for number, limit in enumerate(limits))
        best = min(filter(None, options), key=lambda purchases: score(problem, purchases), default=None)
        if best is None:
            break
        for each in best:
            limits[each.offer] -= each.nodes
            room -= each.nodes
            left = _without(left, each)
        taken += best
    return taken


def _serve_all(problem: Problem, number: int, left: Filling, limit: int) -> list[Purchase]:
    """As many nodes of one offer as serve all pods that may run there."""
    purchases: list[Purchase] = []
    while limit and (more := _alike(problem, number, left, limit)):
        purchases.append(more)
        limit -= more.nodes
        left = _without(left, more)
    return purchases


def _one_kind(problem: Problem, number: int, left: Filling, limit: int) -> list[Purchase]:
    """Nodes of one offer that are all filled alike."""
    more = _alike(problem, number, left, limit)
    return [more] if more else []


def _alike(problem: Problem, number: int, left: Filling, limit: int) -> Purchase | None:
    filling = fill(problem, problem.offers[number], problem.by_size[number], left)
    times = [have // count for have, count in zip(left, filling, strict=True) if count]
    nodes = min(times, default=0)
    return Purchase(offer=number, filling=filling, nodes=min(nodes, limit)) if nodes and limit else None


def _without(left: Filling, purchase: Purchase) -> Filling:
    return tuple(have - purchase.nodes * count for have, count in zip(left, purchase.filling, strict=True))


def _worth(problem: Problem) -> list[float]:
    """What a pod of each set costs at least, by its share of the node that is cheapest for it."""

    return [
        min(
            (
                offer.price * problem.shares[number][index]
                for number, offer in enumerate(problem.offers)
                if offer.most[index]
            ),
            default=0.0,
        )
        for index in range(len(problem.demand))
    ]


def _price_per_pod(problem: Problem, purchases: Sequence[Purchase]) -> float:
    return problem.cost(purchases) / sum(sum(each.filling) * each.nodes for each in purchases)


def _waste(problem: Problem, purchases: Sequence[Purchase]) -> float:
    shares = problem.shares[purchases[0].offer]
    used = sum(each.nodes * total(shares, each.filling) for each in purchases)
    return -used / sum(each.nodes for each in purchases)
