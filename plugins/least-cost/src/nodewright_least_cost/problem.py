"""The problem in numbers: pods that need a place, and nodes that can be bought."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

#: How many pods of each set are on one node.
Filling = tuple[int, ...]
#: An amount of each resource, in the order of the problem.
Amounts = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Offer:
    """One kind of node that can be bought."""

    price: float
    #: How many of them there are.
    limit: int
    #: What pods may take of one.
    free: Amounts
    #: How many pods of each set fit on one if they have it for themselves; 0 if they may not run there.
    most: Filling


@dataclass(frozen=True, kw_only=True)
class Purchase:
    """So many nodes of one offer, all filled alike."""

    offer: int
    filling: Filling
    nodes: int


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Sets of like pods, each with a number and a size, and the offers of nodes for them."""

    demand: Filling
    sizes: tuple[Amounts, ...]
    offers: tuple[Offer, ...]
    #: How many nodes may be bought in all; None: as many as are offered.
    room: int | None = None

    @cached_property
    def penalty(self) -> float:
        """What it costs to leave out a pod: more than serving all pods can, so that none is left out for its cost."""
        return max((offer.price for offer in self.offers), default=0.0) * (sum(self.demand) + 1) or 1.0

    @cached_property
    def shares(self) -> tuple[tuple[float, ...], ...]:
        """How much of a node of each offer one pod of each set takes: its shares of all resources, added up."""
        return tuple(
            tuple(_share(size, offer.free) if most else 0.0 for size, most in zip(self.sizes, offer.most, strict=True))
            for offer in self.offers
        )

    @cached_property
    def by_size(self) -> tuple[tuple[int, ...], ...]:
        """The sets that may run on each offer, the one whose pods take the largest shares first."""
        return tuple(
            tuple(sorted((index for index, most in enumerate(offer.most) if most), key=_falling(shares)))
            for offer, shares in zip(self.offers, self.shares, strict=True)
        )

    def cost(self, purchases: Sequence[Purchase]) -> float:
        """Return the price of all nodes."""
        return sum(self.offers[each.offer].price * each.nodes for each in purchases)

    def left(self, purchases: Sequence[Purchase]) -> Filling:
        """Return how many pods of each set *purchases* leave without a place."""
        served = [0] * len(self.demand)
        for each in purchases:
            for index, count in enumerate(each.filling):
                served[index] += count * each.nodes
        return tuple(max(0, wanted - got) for wanted, got in zip(self.demand, served, strict=True))

    def objective(self, purchases: Sequence[Purchase]) -> float:
        """Return the cost with the penalty for all pods that are left out."""
        return self.cost(purchases) + self.penalty * sum(self.left(purchases))


def total(values: Sequence[float], filling: Filling) -> float:
    """Return what the pods of *filling* are worth, if each is worth the value of its set."""
    return sum(value * count for value, count in zip(values, filling, strict=True))


def _falling(values: Sequence[float]) -> Callable[[int], float]:
    return lambda index: -values[index]


def _share(size: Amounts, free: Amounts) -> float:
    return sum(want / have for want, have in zip(size, free, strict=True) if want)
