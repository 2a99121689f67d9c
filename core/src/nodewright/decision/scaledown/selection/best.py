"""The best set of nodes to remove, among all sets that the allowances permit."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance, Draws
from nodewright.decision.scaledown.selection.disruption import disruption

#: The worth of removing a set of nodes: empty ones, others, minus risky ones, minus disruption, saving.
Worth = tuple[int, int, int, int, int]

_NOTHING: Worth = (0, 0, 0, 0, 0)
#: The precision of prices.
_MILLIONTHS = 1_000_000
#: How many steps the search may take.
_PATIENCE = 500
#: Sorts of nodes beyond so many are left out of the search.
_MOST_SORTS = 100
_ENDLESS = 2**62


@dataclass(frozen=True, kw_only=True, eq=False)
class Item:
    """A node that may be chosen."""

    entry: Removable
    draws: Draws

    @cached_property
    def worth(self) -> Worth:
        """The worth of removing it: always positive."""
        price = round((self.entry.group.hourly_price or 0) * _MILLIONTHS)
        if not self.entry.drains:
            return (1, 0, 0, 0, price)
        return (0, 1, -int(self.entry.risky), -disruption(self.entry.move), price)


def in_order(items: Iterable[Item]) -> list[Item]:
    """Return *items* by falling worth; equal ones keep their order."""
    return sorted(items, key=lambda item: item.worth, reverse=True)


def worth_of(items: Iterable[Item]) -> Worth:
    """Return the worth of *items* together."""
    return _sum(_NOTHING, *(item.worth for item in items))


def best_of(items: Sequence[Item], left: Sequence[int], allowances: Sequence[Allowance]) -> list[Item]:
    """Return the best set of *items*, which are in order, for which enough is *left* of all *allowances*.

    The set with more empty nodes is better; then the one with more other nodes, with fewer risky nodes, with less
    disruption, with a higher saving. The returned set is the best one, except where allowances cross (a budget for
    some groups and another for some reasons, say) and the search takes too long. Even then it is at least as good as
    taking node by node in order. Pure.
    """
    # Plain allowances alone leave no choice. If some empty node that its group can spare can't go, no other node can.
    # Among nodes of one sort, groups are parts of the whole, so that the first in order are the best.
    chosen, crossed = _take_in_order(items, left, allowances)
    if not crossed:
        return chosen
    best = _BranchAndBound(items, left, allowances, chosen).best()
    # A search that was ended early may leave room.
    left, done = _without(left, best), set(map(id, best))
    more, _ = _take_in_order((item for item in items if id(item) not in done), left, allowances)
    return in_order([*best, *more])


def _take_in_order(
    items: Iterable[Item], left: Sequence[int], allowances: Sequence[Allowance]
) -> tuple[list[Item], bool]:
    """Take each item that still fits, and tell whether any is refused by allowances none of which is plain."""
    left, chosen, crossed = list(left), list[Item](), False
    for item in items:
        lacking = [index for index, amount in item.draws if amount > left[index]]
        if not lacking:
            chosen.append(item)
            for index, amount in item.draws:
                left[index] -= amount
        elif not any(allowances[index].plain for index in lacking):
            crossed = True
        elif any(allowances[index].for_all and left[index] <= 0 for index in lacking):
            break
    return chosen, crossed


def _without(left: Sequence[int], taken: Iterable[Item]) -> list[int]:
    rest = list(left)
    for item in taken:
        for index, amount in item.draws:
            rest[index] -= amount
    return rest


class _BranchAndBound:
    """Tries how many nodes to take of each sort, and skips what can't be better.

    Nodes of one sort take the same of all allowances, so that the first in order are taken of each sort.
    """

    def __init__(
        self, items: Sequence[Item], left: Sequence[int], allowances: Sequence[Allowance], found: Sequence[Item]
    ) -> None:
        self._left = list(left)
        self._allowances = allowances
        self._best = list(found)
        self._worth = worth_of(found)
        self._chosen: list[Item] = []
        self._patience = _PATIENCE
        sorts: dict[tuple[Draws, bool], list[Item]] = {}
        for item in items:
            sorts.setdefault((item.draws, not item.entry.drains), []).append(item)
        capped = [sort[: self._room(sort[0])] for sort in sorts.values()]
        self._sorts = [sort for sort in capped if sort][:_MOST_SORTS]
        #: From each sort on, all that are left, in order.
        self._rest = [in_order(item for sort in self._sorts[at:] for item in sort) for at in range(len(self._sorts))]

    def best(self) -> list[Item]:
        """Return the best set."""
        self._go_on(0)
        return self._best

    def _go_on(self, at: int) -> None:
        if at == len(self._sorts):
            self._keep_if_better()
            return
        self._patience -= 1
        if self._patience < 0 or self._at_most(at) <= self._worth:
            return
        sort = self._sorts[at]
        for count in range(min(len(sort), self._room(sort[0])), -1, -1):
            self._take(sort[:count], 1)
            self._go_on(at + 1)
            self._take(sort[:count], -1)

    def _at_most(self, at: int) -> Worth:
        """Return an upper bound for sets that begin with what is chosen: their worth if allowances did not cross."""
        possible = [item for item in self._rest[at] if self._room(item)]
        plain = [left if each.plain else _ENDLESS for left, each in zip(self._left, self._allowances, strict=True)]
        chosen, _ = _take_in_order(possible, plain, self._allowances)
        return _sum(worth_of(self._chosen), worth_of(chosen))

    def _room(self, item: Item) -> int:
        """Return how many nodes like *item* would fit if there were enough."""
        return max(0, min((self._left[index] // amount for index, amount in item.draws), default=_ENDLESS))

    def _take(self, items: Sequence[Item], sign: int) -> None:
        for item in items:
            for index, amount in item.draws:
                self._left[index] -= sign * amount
        if sign > 0:
            self._chosen += items
        elif items:
            del self._chosen[-len(items) :]

    def _keep_if_better(self) -> None:
        worth = worth_of(self._chosen)
        if worth > self._worth:
            self._best, self._worth = list(self._chosen), worth


def _sum(*worths: Worth) -> Worth:
    empty, others, risky, disrupted, saved = (sum(column) for column in zip(*worths, strict=True))
    return (empty, others, risky, disrupted, saved)
