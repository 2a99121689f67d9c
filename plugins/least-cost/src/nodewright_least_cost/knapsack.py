"""The filling of one node whose pods are worth most."""

from collections.abc import Sequence

from nodewright_least_cost.filling import fill
from nodewright_least_cost.model import Model
from nodewright_least_cost.problem import Filling, Problem

_GAP = 0.003
_SECONDS = 0.05
_EPSILON = 1e-6


def best_filling(
    problem: Problem, number: int, worth: Sequence[float], seconds: float, *, exact: bool
) -> tuple[Filling, float] | None:
    """Return a filling of one node of an offer whose pods are worth much, and a bound of what any is worth.

    If *exact*, both are as good as time allows; else parts of pods are reckoned with, and then left off. None if there
    was too little time.
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
        # As shares of the node, so that bytes and CPUs are of one order.
        unit = max(1, free)
        entries = [(counts[index], problem.sizes[index][row] / unit) for index in sets if problem.sizes[index][row]]
        if entries:
            model.row(entries, upper=free / unit)
    if exact and problem.foes:
        _keep_foes_apart(problem, model, counts, offer.most)
    # A filling that is nearly the best will do, as long as the bound is right.
    found = model.solve(min(seconds, _SECONDS), whole=exact, gap=_GAP)
    if found is None or not (exact or found.optimal):
        return None
    values = {index: found.values[variable] for index, variable in counts.items()}
    whole_pods = tuple(int(values.get(index, 0.0) + _EPSILON) for index in range(len(problem.demand)))
    filling = fill(problem, number, sorted(sets, key=lambda index: -values[index] * worth[index]), whole_pods)
    # What was left off makes room, first of all for the pods of which most was.
    by_part = sorted(sets, key=lambda index: whole_pods[index] - values[index])
    return fill(problem, number, by_part, problem.demand, filling), -found.bound


def _keep_foes_apart(problem: Problem, model: Model, counts: dict[int, int], most: Filling) -> None:
    present = {index: model.variable(upper=1, whole=True) for index in counts if problem.foes[index] & counts.keys()}
    for index, variable in present.items():
        model.row([(counts[index], 1.0), (variable, -float(most[index]))], upper=0)
        for foe in problem.foes[index]:
            if index < foe and foe in present:
                model.row([(variable, 1.0), (present[foe], 1.0)], upper=1)
