"""Nodes that are not needed, and those that could not go."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Self

from nodewright.decision.memory.slices import Shedding, Slice


@dataclass(frozen=True, kw_only=True)
class UnneededMemory(Slice):
    """What the search for unneeded nodes remembers. Owned by scale-down; all by node."""

    since: dict[str, datetime] = field(default_factory=dict)
    #: Nodes that could not go, and until when they are not looked at again.
    unremovable_until: dict[str, datetime] = field(default_factory=dict)
    #: Nodes that there was no time to look at in the last loop, and that come first in the next one.
    unexamined: tuple[str, ...] = ()
    #: Where the pods of an unneeded node went in the last simulation, and how many: they are tried there first the next
    #: time, so that the same nodes can go again.
    hints: dict[str, tuple[tuple[str, int], ...]] = field(default_factory=dict)

    may_wait: ClassVar[frozenset[str]] = frozenset({"hints", "unexamined", "unremovable_until"})
    sheds: ClassVar[tuple[Shedding, ...]] = (
        # They are found again in one loop; only other nodes may go first.
        Shedding(cost=10, what="hints", take=lambda kept: replace(kept, hints={}, unexamined=())),
        # These nodes are looked at sooner than need be.
        Shedding(cost=40, what="unremovable nodes", take=lambda kept: replace(kept, unremovable_until={})),
    )

    def needed(self) -> Self:
        """Return the memory with all nodes needed: their time starts anew."""
        return replace(self, since={})

    def searched(
        self,
        since: dict[str, datetime],
        unremovable: Mapping[str, datetime],
        unexamined: tuple[str, ...],
        hints: dict[str, tuple[tuple[str, int], ...]],
        now: datetime,
    ) -> Self:
        """Return the memory after a search at *now*: nodes unneeded *since*, and further *unremovable* ones."""
        known = {name: until for name, until in self.unremovable_until.items() if now <= until}
        return replace(
            self, since=since, unremovable_until={**known, **unremovable}, unexamined=unexamined, hints=hints
        )

    def unremovable(self, names: Iterable[str], until: datetime) -> Self:
        """Return the memory with nodes that could not be removed after all."""
        return replace(self, unremovable_until={**self.unremovable_until, **dict.fromkeys(names, until)})

    def looked_at(self, names: Iterable[str]) -> Self:
        """Return the memory with these nodes looked at again, whenever they could not go."""
        again = frozenset(names)
        if not again:
            return self
        return replace(
            self, unremovable_until={name: at for name, at in self.unremovable_until.items() if name not in again}
        )

    def recalled(self, since: Mapping[str, datetime]) -> Self:
        """Return the memory with what an earlier process wrote on nodes; what is remembered has precedence."""
        return replace(self, since={**since, **self.since})

    def without(self, names: Iterable[str]) -> Self:
        """Return the memory without the time of nodes that others had the names of."""
        gone = frozenset(names)
        return replace(self, since={name: since for name, since in self.since.items() if name not in gone})

    def after_absence(self) -> Self:
        """Start all timers anew: a node may have been needed meanwhile."""
        return replace(self, since={}, unexamined=())

    def without_times(self) -> Self:
        """Keep the hints."""
        return type(self)(hints=self.hints)
