"""The numeric problem: pods that need a place, and nodes that can be bought."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nodewright_least_cost.rules import Apart, Spread, Together

#: How many pods of each set are on one node.
Filling = tuple[int, ...]
#: An amount of each resource, in the order of the problem.
Amounts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """A type of node that can be bought."""

    price: float
    #: How many can be bought.
    limit: int
    #: Room for pods on one node.
    free: Amounts
    #: How many pods of each set fit on an otherwise empty node; 0 if they may not run there.
    most: Filling
    #: For each set, the cell that the node is in; by default, the cell with the set's number.
    cells: tuple[int, ...] = ()

    def cell(self, index: int) -> int:
        """Return the cell in which a pod of the set would be."""
        return self.cells[index] if self.cells else index


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """A number of nodes of one offer, all filled alike."""

    offer: int
    filling: Filling
    nodes: int


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Sets of equal pods, each with a count and a size, and the offers of nodes for them.

    Pods of one set can be in several *cells*: parts of the cluster that spread and affinity tell apart.
    """

    demand: Filling
    sizes: tuple[Amounts, ...]
    offers: tuple[Offer, ...]
    #: How many nodes may be bought in total; None for all that are offered.
    room: int | None = None
    #: The set of each cell; by default, each set has one cell, with the set's number.
    set_of: tuple[int, ...] = ()
    rules: tuple[Spread | Apart | Together, ...] = ()
    #: For each set, the sets that can't share a node with it; by default all can.
    foes: tuple[frozenset[int], ...] = ()
    #: Sets all of whose pods have to be on one node.
    huddled: frozenset[int] = frozenset()

    @cached_property
    def cells(self) -> tuple[int, ...]:
        """The set of each cell."""
        return self.set_of or tuple(range(len(self.demand)))

    @cached_property
    def penalty(self) -> float:
        """The cost of leaving out a pod: more than serving all pods, so that cost never leaves one out."""
        return max((offer.price for offer in self.offers), default=0.0) * (sum(self.demand) + 1) or 1.0

    @cached_property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """For each offer, how much of a node one pod of each set takes: the sum of its shares of all resources."""
        return tuple(
            tuple(_share(size, offer.free) if most else 0.0 for size, most in zip(self.sizes, offer.most, strict=True))
            for offer in self.offers
        )

    @cached_property
    def by_size(self) -> tuple[tuple[int, ...], ...]:
        """For each offer, the sets that may run on it, the one with the largest shares first."""
        return tuple(
            tuple(sorted((index for index, most in enumerate(offer.most) if most), key=_falling(shares)))
            for offer, shares in zip(self.offers, self.shares, strict=True)
        )

    def at_odds(self, index: int, filling: Sequence[int]) -> bool:
        """Tell whether a pod of the set can't be on a node that is filled like this."""
        return bool(self.foes) and any(filling[foe] for foe in self.foes[index])

    def cost(self, purchases: Sequence[Purchase]) -> float:
        """Return the price of all nodes."""
        return sum(self.offers[each.offer].price * each.nodes for each in purchases)

    def served(self, purchases: Sequence[Purchase]) -> list[int]:
        """Return how many pods are in each cell."""
        served = [0] * len(self.cells)
        for each in purchases:
            for index, count in enumerate(each.filling):
                if count:
                    served[self.offers[each.offer].cell(index)] += count * each.nodes
        return served

    def left(self, purchases: Sequence[Purchase]) -> Filling:
        """Return how many pods of each set *purchases* leave without a place."""
        left = list(self.demand)
        for cell, count in enumerate(self.served(purchases)):
            left[self.cells[cell]] -= count
        return tuple(max(0, each) for each in left)

    def keeps_rules(self, purchases: Sequence[Purchase]) -> bool:
        """Tell whether all rules hold."""
        served, bought = self.served(purchases), {each.offer for each in purchases}
        return all(rule.holds(served, bought) for rule in self.rules) and all(
            sum(each.nodes for each in purchases if each.filling[index]) <= 1 for index in self.huddled
        )

    def objective(self, purchases: Sequence[Purchase]) -> float:
        """Return the cost with the penalty for all pods that are left out."""
        return self.cost(purchases) + self.penalty * sum(self.left(purchases))


def trimmed(problem: Problem, purchases: Sequence[Purchase], quota: Sequence[int]) -> list[Purchase]:
    """Return *purchases* without the pods beyond the *quota* of their cell, and without nodes that become empty."""
    pods = list(quota)
    kept = []
    for each in purchases:
        nodes = each.nodes
        cells = [problem.offers[each.offer].cell(index) for index in range(len(each.filling))]
        while nodes:
            filling = tuple(min(count, pods[cell]) for count, cell in zip(each.filling, cells, strict=True))
            if not any(filling):
                break
            alike = min(nodes, *(pods[cell] // count for count, cell in zip(filling, cells, strict=True) if count))
            kept.append(Purchase(offer=each.offer, filling=filling, nodes=alike))
            nodes -= alike
            for count, cell in zip(filling, cells, strict=True):
                pods[cell] -= count * alike
    return kept


def total(values: Sequence[float], filling: Sequence[int]) -> float:
    """Return the total value of the pods of *filling*, given the value of a pod of each set."""
    return sum(value * count for value, count in zip(values, filling, strict=True))


def _falling(values: Sequence[float]) -> Callable[[int], float]:
    return lambda index: -values[index]


def _share(size: Amounts, free: Amounts) -> float:
    return sum(want / have for want, have in zip(size, free, strict=True) if want)
