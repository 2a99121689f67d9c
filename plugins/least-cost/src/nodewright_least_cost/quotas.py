"""Quotas of greedy plans: how many pods of each set each cell gets, so that rules hold."""

from collections.abc import Collection, Iterator, Sequence

from nodewright_least_cost.problem import Problem
from nodewright_least_cost.rules import Spread

#: The most parts of the cluster that are tried one by one.
_MOST_PARTS = 8


def quotas(problem: Problem) -> Iterator[list[int]]:
    """Yield ways to divide the pods among all offers, and among the offers of each part of the cluster."""
    if not problem.rules:
        yield list(problem.demand)
        return
    yield shared_out(problem, range(len(problem.offers)))
    parts = list(dict.fromkeys(offer.cells for offer in problem.offers))
    if 1 < len(parts) <= _MOST_PARTS:
        for cells in parts:
            yield shared_out(problem, [number for number, each in enumerate(problem.offers) if each.cells == cells])


def shared_out(problem: Problem, offers: Collection[int], begun: Sequence[int] = ()) -> list[int]:
    """Assign each pod to the cell whose domains have the fewest, as long as that breaks no rule.

    Only cells of *offers* get pods, in addition to those that they have *begun* with.
    """
    served = list(begun or (0,) * len(problem.cells))
    left = list(problem.demand)
    for cell, count in enumerate(served):
        left[problem.cells[cell]] -= count
    bought = frozenset(offers)
    for index, wanted in enumerate(left):
        cells = sorted({problem.offers[each].cell(index) for each in offers if problem.offers[each].most[index]})
        rules = [
            rule
            for rule in problem.rules
            if any(cell in each.selected + each.own for each in rule.domains for cell in cells)
        ]
        if len(cells) == 1 and not rules:
            served[cells[0]] += wanted
            continue
        spreads = [rule for rule in rules if isinstance(rule, Spread)]
        for _ in range(wanted):
            for cell in sorted(cells, key=lambda cell: _level(spreads, cell, served)):
                served[cell] += 1
                if all(rule.holds(served, bought) for rule in rules):
                    break
                served[cell] -= 1
            else:
                break
    return served


def _level(spreads: Sequence[Spread], cell: int, served: Sequence[int]) -> int:
    return sum(rule.level(cell, served) for rule in spreads)
