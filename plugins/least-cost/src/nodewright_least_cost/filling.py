"""Ways to fill one node: greedily, all of them, or the most valuable."""

from collections.abc import Iterator, Sequence

from nodewright_least_cost.model import Model
from nodewright_least_cost.problem import Amounts, Filling, Problem

_GAP = 0.003
_SECONDS = 0.05
_EPSILON = 1e-6


def fill(
    problem: Problem, number: int, order: Sequence[int], left: Sequence[int], begun: Filling | None = None
) -> Filling:
    """Fill one node of an offer set by set, in *order*, with no more pods of each than are *left*.

    The node starts empty, or as *begun*.
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
    """Return every way to fill a node of an offer completely; None if that takes too many steps.

    For sets that must be on one node, this includes ways with fewer of their pods: all other nodes have none.
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


def best_filling(
    problem: Problem, number: int, worth: Sequence[float], seconds: float, *, exact: bool
) -> tuple[Filling, float] | None:
    """Return a valuable filling of one node of an offer, and an upper bound on the value of any.

    This is a knapsack problem. If *exact*, it is solved in whole pods as well as time allows; else in fractions of
    pods, which are then rounded down. None if there was too little time.
    """
    offer = problem.offers[number]
    sets = [index for index, most in enumerate(offer.most) if most and worth[index] > 0]
    if not sets:
        return (0,) * len(problem.demand), 0.0
    model = Model()
    counts = {
        index: model.variable(cost=-worth[index], upper=min(offer.most[index], problem.demand[index]), whole=True)
        for index in sets
    }
    for row, free in enumerate(offer.free):
        # Shares of the node keep bytes and CPUs in the same order of magnitude.
        unit = max(1, free)
        entries = [(counts[index], problem.sizes[index][row] / unit) for index in sets if problem.sizes[index][row]]
        if entries:
            model.row(entries, upper=free / unit)
    if exact and problem.foes:
        _keep_foes_apart(problem, model, counts, offer.most)
    # A nearly optimal filling is enough, as long as the bound is right.
    found = model.solve(min(seconds, _SECONDS), whole=exact, gap=_GAP)
    if found is None or not (exact or found.optimal):
        return None
    values = {index: found.values[variable] for index, variable in counts.items()}
    whole_pods = tuple(int(values.get(index, 0.0) + _EPSILON) for index in range(len(problem.demand)))
    filling = fill(problem, number, sorted(sets, key=lambda index: -values[index] * worth[index]), whole_pods)
    # Rounding down leaves room, which goes first to the sets that lost the largest fractions.
    by_part = sorted(sets, key=lambda index: whole_pods[index] - values[index])
    return fill(problem, number, by_part, problem.demand, filling), -found.bound


def _keep_foes_apart(problem: Problem, model: Model, counts: dict[int, int], most: Filling) -> None:
    present = {index: model.variable(upper=1, whole=True) for index in counts if problem.foes[index] & counts.keys()}
    for index, variable in present.items():
        model.row([(counts[index], 1.0), (variable, -float(most[index]))], upper=0)
        for foe in problem.foes[index]:
            if index < foe and foe in present:
                model.row([(variable, 1.0), (present[foe], 1.0)], upper=1)


def _times(size: Amounts, free: Amounts) -> int:
    """Return how many times *size*, which is not zero, fits into *free*."""
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
