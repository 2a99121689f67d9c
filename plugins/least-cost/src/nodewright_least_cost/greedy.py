"""Greedy plans, from which the search starts: they take the best option again and again."""

from collections.abc import Callable, Iterator, Sequence

from nodewright_least_cost.filling import fill
from nodewright_least_cost.problem import Filling, Problem, Purchase, total, trimmed

#: Scores buying nodes of one offer with these fillings; the least is the best.
Score = Callable[[Problem, Sequence[Purchase]], float]


def greedy_plans(problem: Problem, quota: Sequence[int], begun: Sequence[Purchase] = ()) -> Iterator[list[Purchase]]:
    """Yield one plan for each score: what an expander would come to, loop after loop, after *begun*.

    No cell gets more pods than its *quota*.
    """
    worth = _worth(problem)

    def price_for_worth(problem: Problem, purchases: Sequence[Purchase]) -> float:
        gained = sum(each.nodes * total(worth, each.filling) for each in purchases)
        return problem.cost(purchases) / gained if gained else float("inf")

    greed = _Greed(problem, quota, begun)
    for score in (price_for_worth, _waste, _price_per_pod):
        yield greed.plan(score, greed.serve_all)
    yield greed.plan(price_for_worth, greed.one_kind)


class _Greed:
    """Takes the best option of all offers until none helps."""

    def __init__(self, problem: Problem, quota: Sequence[int], begun: Sequence[Purchase]) -> None:
        self._problem = problem
        self._quota = quota
        self._begun = begun
        #: By offer and the most pods of each set on one node, which seldom change.
        self._fillings: dict[tuple[int, Filling], Filling] = {}

    def plan(self, score: Score, option: Callable[[int, Sequence[int], int], list[Purchase]]) -> list[Purchase]:
        """Return the plan in which the *option* with the least *score* is taken again and again."""
        problem, left = self._problem, list(self._quota)
        taken: list[Purchase] = []
        limits = [offer.limit for offer in problem.offers]
        room = sum(limits) if problem.room is None else problem.room
        best: list[Purchase] | None = trimmed(problem, self._begun, self._quota)
        while best is not None:
            for each in best:
                taken.append(each)
                limits[each.offer] -= each.nodes
                room -= each.nodes
                _take_off(problem, left, each)
            options = (option(number, left, min(limit, room)) for number, limit in enumerate(limits))
            best = min(filter(None, options), key=lambda purchases: score(problem, purchases), default=None)
        return taken

    def serve_all(self, number: int, left: Sequence[int], limit: int) -> list[Purchase]:
        """Return enough nodes of one offer for all pods that may run there."""
        purchases: list[Purchase] = []
        rest = list(left)
        while limit and (more := self._alike(number, rest, limit)):
            purchases.append(more)
            limit -= more.nodes
            _take_off(self._problem, rest, more)
        return purchases

    def one_kind(self, number: int, left: Sequence[int], limit: int) -> list[Purchase]:
        """Return nodes of one offer that are all filled alike."""
        more = self._alike(number, left, limit)
        return [more] if more else []

    def _alike(self, number: int, left: Sequence[int], limit: int) -> Purchase | None:
        problem, offer = self._problem, self._problem.offers[number]
        here = [left[cell] for cell in offer.cells] if offer.cells else left
        wanted = tuple(map(min, here, offer.most))
        filling = self._fillings.get((number, wanted))
        if filling is None:
            filling = self._fillings[number, wanted] = fill(problem, number, problem.by_size[number], wanted)
        times = [have // count for have, count in zip(here, filling, strict=True) if count]
        # Pods of a huddled set are all on one node.
        lonely = any(filling[index] for index in problem.huddled)
        nodes = min(1 if lonely else min(times, default=0), limit)
        return Purchase(offer=number, filling=filling, nodes=nodes) if nodes > 0 else None


def _take_off(problem: Problem, left: list[int], purchase: Purchase) -> None:
    offer = problem.offers[purchase.offer]
    for index, count in enumerate(purchase.filling):
        if count:
            cell = offer.cell(index)
            left[cell] = 0 if index in problem.huddled else left[cell] - purchase.nodes * count


def _worth(problem: Problem) -> list[float]:
    """Return the least cost of a pod of each set: by its share of the node on which it costs least."""
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
