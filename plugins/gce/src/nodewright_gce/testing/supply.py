"""Shortages of capacity."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from nodewright_gce.pools import Pool
from nodewright_gce.testing.troubles import Trouble


@dataclass(kw_only=True)
class Shortage:
    """Machines can't be made from matching pools, except for so many that are still *available*."""

    #: Pattern of names such as ``europe-west1-b/n2-standard-8`` or ``*/n2-*/spot``.
    pools: str
    #: Pattern of names of groups.
    migs: str = "*"
    trouble: Trouble = Trouble.STOCK_OUT
    available: int = 0
    #: Replaces Google's message.
    message: str = ""
    #: Whether nothing tells about it: the machines just do not come.
    silent: bool = False
    #: Whether the machines are not even listed, and only the history of the group tells why.
    unseen: bool = False
    #: Whether orders are refused: their operations fail, and the size of the group stays.
    at_once: bool = False

    def matches(self, group: str, pool: Pool) -> bool:
        """Whether the shortage affects machines of a group from a pool."""
        return fnmatchcase(str(pool), self.pools) and fnmatchcase(group, self.migs)


class Supply:
    """All present shortages."""

    def __init__(self) -> None:
        self._shortages: list[Shortage] = []

    def add(self, shortage: Shortage) -> Shortage:
        """Add a shortage."""
        self._shortages.append(shortage)
        return shortage

    def clear(self) -> None:
        """End all shortages."""
        self._shortages.clear()

    def shortage(self, group: str, pool: Pool, count: int = 1) -> Shortage | None:
        """The shortage that keeps *count* machines from a pool; None if there is none."""
        return next((each for each in self._shortages if each.available < count and each.matches(group, pool)), None)

    def refusal(self, group: str, pools: Iterable[Pool]) -> tuple[Shortage, Pool] | None:
        """The shortage for which orders of a group are refused, and the pool that is short; None if there is none."""
        short = ((each, pool) for pool in pools for each in self._shortages if each.at_once)
        return next(((each, pool) for each, pool in short if each.matches(group, pool)), None)

    def take(self, group: str, pool: Pool) -> None:
        """Take a machine from the available ones."""
        for shortage in self._shortages:
            if shortage.matches(group, pool):
                shortage.available -= 1

    def give_back(self, group: str, pool: Pool) -> None:
        """Undo `take`."""
        for shortage in self._shortages:
            if shortage.matches(group, pool):
                shortage.available += 1
