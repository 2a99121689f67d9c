"""The integer program that buys nodes by column: an offer, and a way to fill one of its nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from nodewright_least_cost.model import Model
from nodewright_least_cost.problem import Filling, Problem, Purchase, trimmed
from nodewright_least_cost.rules import Variables

_EPSILON = 1e-6

#: An offer, by its number, and a way to fill one of its nodes.
Column = tuple[int, Filling]


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """The solution if fractions of nodes could be bought."""

    objective: float
    #: By offer, the value of a pod of each set on its nodes: what one more such pod would cost.
    worth: tuple[tuple[float, ...], ...]
    #: By offer, the value that a node must have above its price, because the offer is limited.
    nodes: tuple[float, ...]
    #: The same for nodes with a huddled set, by set.
    huddles: dict[int, float]
    #: The whole nodes of the solution, fractions left out.
    purchases: tuple[Purchase, ...]
    #: Pods in each cell.
    pods: tuple[float, ...]

    def gain(self, problem: Problem, column: Column) -> float:
        """Return the value of a node filled like this, minus its price."""
        number, filling = column
        worth = sum(value * count for value, count in zip(self.worth[number], filling, strict=True))
        fees = sum(fee for index, fee in self.huddles.items() if filling[index])
        return worth - fees - problem.offers[number].price - self.nodes[number]


@dataclass(frozen=True, kw_only=True)
class Whole:
    """The best solution in whole nodes that was found in time."""

    purchases: tuple[Purchase, ...]
    #: A lower bound on the cost of any solution with the same columns.
    bound: float


class Program:
    """Buys nodes by column or leaves pods out by set, within limits and rules."""

    def __init__(self, problem: Problem, columns: Sequence[Column]) -> None:
        self._problem = problem
        self._columns = columns
        self._model = model = Model()
        ruled = bool(problem.rules)
        most_pods = _most_pods(problem)
        room = sum(offer.limit for offer in problem.offers) if problem.room is None else problem.room
        self._bought = [model.variable(cost=problem.offers[offer].price, whole=True) for offer, _ in columns]
        self._pods = [model.variable(upper=most, whole=ruled) for most in most_pods]
        self._left = [model.variable(cost=problem.penalty, upper=wanted) for wanted in problem.demand]
        self._nodes = [model.variable(upper=min(offer.limit, room)) for offer in problem.offers]
        self._cell_rows = self._add_cells()
        self._offer_rows = [
            model.row([(self._nodes[number], -1.0), *((self._bought[each], 1.0) for each in members)], upper=0)
            for number, members in enumerate(self._by_offer())
        ]
        model.row([(each, 1.0) for each in self._nodes], upper=room)
        self._huddle_rows = {
            index: model.row(
                [(bought, 1.0) for bought, (_, filling) in zip(self._bought, columns, strict=True) if filling[index]],
                upper=1,
            )
            for index in sorted(problem.huddled)
        }
        limits = [min(offer.limit, room) for offer in problem.offers]
        variables = Variables(pods=self._pods, nodes=self._nodes, most_pods=most_pods, most_nodes=limits)
        for rule in problem.rules:
            rule.constrain(model, variables)

    def relaxed(self, seconds: float) -> Relaxed | None:
        """Solve with fractions of nodes; None if HiGHS could not."""
        found = self._model.solve(seconds, whole=False)
        if found is None or not found.optimal:
            return None
        cells = [max(0.0, found.duals[row]) for row in self._cell_rows]
        sets = range(len(self._problem.demand))
        return Relaxed(
            objective=found.objective,
            worth=tuple(
                tuple(cells[offer.cell(index)] if offer.most[index] else 0.0 for index in sets)
                for offer in self._problem.offers
            ),
            nodes=tuple(max(0.0, -found.duals[row]) for row in self._offer_rows),
            huddles={index: max(0.0, -found.duals[row]) for index, row in self._huddle_rows.items()},
            purchases=self._purchases([int(found.values[each] + _EPSILON) for each in self._bought]),
            pods=tuple(found.values[each] for each in self._pods),
        )

    def whole(self, start: Sequence[Purchase], seconds: float, gap: float) -> Whole | None:
        """Solve in whole nodes, starting from the plan *start*, to within *gap*; None if nothing was found."""
        hint = dict.fromkeys(self._bought, 0.0)
        numbers = {column: number for number, column in enumerate(self._columns)}
        for each in start:
            hint[self._bought[numbers[each.offer, each.filling]]] += each.nodes
        if self._problem.rules:
            hint |= {self._pods[cell]: float(count) for cell, count in enumerate(self._problem.served(start))}
        found = self._model.solve(seconds, whole=True, gap=gap, start=hint)
        if found is None:
            return None
        bought = [round(found.values[each]) for each in self._bought]
        pods = [round(found.values[each]) for each in self._pods]
        return Whole(purchases=tuple(trimmed(self._problem, self._purchases(bought), pods)), bound=found.bound)

    def _add_cells(self) -> list[int]:
        """Add a row for each cell, which limits its pods to the room bought, and one for the pods of each set."""
        problem, model = self._problem, self._model
        rooms: list[list[tuple[int, float]]] = [[] for _ in problem.cells]
        for bought, (number, filling) in zip(self._bought, self._columns, strict=True):
            for index, count in enumerate(filling):
                if count:
                    rooms[problem.offers[number].cell(index)].append((bought, float(count)))
        rows = [model.row([*room, (pods, -1.0)], lower=0) for room, pods in zip(rooms, self._pods, strict=True)]
        for index, wanted in enumerate(problem.demand):
            cells = [(self._pods[cell], 1.0) for cell, owner in enumerate(problem.cells) if owner == index]
            model.row([*cells, (self._left[index], 1.0)], lower=wanted, upper=wanted)
        return rows

    def _by_offer(self) -> list[list[int]]:
        members: list[list[int]] = [[] for _ in self._problem.offers]
        for number, (offer, _) in enumerate(self._columns):
            members[offer].append(number)
        return members

    def _purchases(self, counts: Sequence[int]) -> tuple[Purchase, ...]:
        return tuple(
            Purchase(offer=offer, filling=filling, nodes=count)
            for (offer, filling), count in zip(self._columns, counts, strict=True)
            if count > 0
        )


def _most_pods(problem: Problem) -> list[int]:
    """Return the largest number of pods in each cell."""
    rooms = [0] * len(problem.cells)
    for offer in problem.offers:
        for index, most in enumerate(offer.most):
            if most:
                rooms[offer.cell(index)] += most * offer.limit
    return [min(room, problem.demand[index]) for room, index in zip(rooms, problem.cells, strict=True)]
