"""Ways to fill one node."""

from collections.abc import Iterator, Sequence

from nodewright_least_cost.problem import Amounts, Filling, Problem


def fill(
    problem: Problem, number: int, order: Sequence[int], left: Sequence[int], begun: Filling | None = None
) -> Filling:
    """Put pods onto one node of an offer until no more fit, set by set in *order*; no more of each than are *left*.

    The node is empty, or *begun* already.
    """
    offer = problem.offers[number]
    filling = list(begun or (0,) * len(problem.demand))
    free = offer.free
    for index, count in enumerate(filling):
        if count:
            free = _less(free, problem.sizes[index], count)
    for index in order:
        if left[index] <= filling[index] or problem.at_odds(index, filling):
            continue
        size = problem.sizes[index]
        count = min(min(left[index], offer.most[index]) - filling[index], _times(size, free))
        if count > 0:
            filling[index] += count
            free = _less(free, size, count)
    return tuple(filling)


def all_fillings(problem: Problem, number: int, budget: int) -> list[Filling] | None:
    """Return every way to fill a node of an offer to which no pod can be added; None if that takes too many steps.

    Of pods that huddle on one node, ways with fewer of them are among these: all other nodes have none.
    """
    offer, sets = problem.offers[number], problem.by_size[number]
    caps = {index: min(offer.most[index], problem.demand[index]) for index in sets}
    found: list[Filling] = []
    steps = 0

    def could_take(filling: Filling, free: Amounts) -> bool:
        return any(
            filling[each] < caps[each] and _times(problem.sizes[each], free) and not problem.at_odds(each, filling)
            for each in sets
            if each not in problem.huddled
        )

    def descend(depth: int, free: Amounts, filling: Filling) -> Iterator[Filling]:
        nonlocal steps
        steps += 1
        if steps > budget:
            return
        if depth == len(sets):
            if not could_take(filling, free):
                yield filling
            return
        index = sets[depth]
        size = problem.sizes[index]
        most = 0 if problem.at_odds(index, filling) else min(caps[index], _times(size, free))
        for count in range(most, -1, -1):
            taken = (*filling[:index], count, *filling[index + 1 :])
            yield from descend(depth + 1, _less(free, size, count), taken)

    found.extend(descend(0, offer.free, (0,) * len(problem.demand)))
    return None if steps > budget else [each for each in found if any(each)]


def _times(size: Amounts, free: Amounts) -> int:
    """Return how many times *size*, which is not nothing, fits into *free*."""
    least = -1
    for want, have in zip(size, free, strict=True):
        if want:
            here = have // want
            if here <= 0:
                return 0
            if least < 0 or here < least:
                least = here
    return least


def _less(free: Amounts, size: Amounts, count: int) -> Amounts:
    return tuple(have - count * want for have, want in zip(free, size, strict=True))
