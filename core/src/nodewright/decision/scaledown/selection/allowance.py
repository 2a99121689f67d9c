"""Allowances: how much of something the removals that start may still take away."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.verdict import Verdict
from nodewright.decision.scaledown.removable import Removable


def each_node(_: Removable) -> int:
    """Take one for every node."""
    return 1


def everywhere(_: GroupFacts) -> bool:
    """Cover all groups."""
    return True


@dataclass(frozen=True, kw_only=True, eq=False)
class Allowance:
    """What the removals that start may take away together."""

    #: How much that is.
    left: int
    #: The verdict on a node for which too little is left.
    refusal: Verdict
    #: How much of it a node takes.
    draw: Callable[[Removable], int] = each_node
    #: The groups whose nodes take from it at all.
    covers: Callable[[GroupFacts], bool] = everywhere
    #: Whether it counts nodes, of one group or of all, or of all that have pods to move: see `best_of`.
    plain: bool = False
    #: Whether it limits how many nodes are on their way out: a group that goes as a whole may exceed it.
    parallel: bool = False
    #: Whether it does not come back with time: the rest of it is kept for the nodes that are first in the queue.
    lasting: bool = False
    #: Whether every node takes one of it, so that none can go once there is nothing left.
    for_all: bool = False


#: How much a node takes of each allowance, by the index of that.
Draws = tuple[tuple[int, int], ...]


class Allowances:
    """All allowances of one loop, and how much each node takes of them."""

    def __init__(self, shared: list[Allowance], of_group: Callable[[GroupFacts], Allowance]) -> None:
        self.all: list[Allowance] = []
        self.left: list[int] = []
        self._of_group = of_group
        self._groups: dict[str, tuple[int, ...]] = {}
        for allowance in shared:
            self._add(allowance)
        self._shared = range(len(shared))

    def draws(self, entry: Removable) -> Draws:
        """Return what *entry* takes, in the order in which a lack is given as its reason."""
        covering = self._groups.get(entry.group.id)
        if covering is None:
            covering = self._cover(entry.group)
        return tuple((index, amount) for index in covering if (amount := self.all[index].draw(entry)))

    def refusals(self, queue: Iterable[Draws]) -> Iterator[Verdict | None]:
        """Yield why each node in the *queue*, none of which goes now, does not go; None if it could.

        A lasting allowance that would keep it even after all before it in the queue have gone has precedence.
        """
        later = list(self.left)
        for draws in queue:
            never = next((i for i, amount in draws if self.all[i].lasting and amount > later[i]), None)
            now = next((i for i, amount in draws if amount > self.left[i]), None)
            if never is None:
                for index, amount in draws:
                    later[index] -= amount
            lacking = now if never is None else never
            yield None if lacking is None else self.all[lacking].refusal

    def take(self, draws: Draws) -> None:
        """Count *draws* as taken."""
        for index, amount in draws:
            self.left[index] -= amount

    def _cover(self, group: GroupFacts) -> tuple[int, ...]:
        own = self._add(self._of_group(group))
        covering = (own, *(index for index in self._shared if self.all[index].covers(group)))
        self._groups[group.id] = covering
        return covering

    def _add(self, allowance: Allowance) -> int:
        self.all.append(allowance)
        self.left.append(allowance.left)
        return len(self.all) - 1
