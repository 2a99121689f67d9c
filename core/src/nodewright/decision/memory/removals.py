"""Nodes that are leaving, step by step, and how many pods had to move for them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self

from nodewright.api.decision import Outcome
from nodewright.decision.memory.slices import Slice

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True)
class Removal:
    """A node that is being taken out of service."""

    group: str
    provider_id: str
    #: Which one of the machines with this id; empty if that is not known.
    incarnation: str = ""
    #: When it was marked, or was to be.
    started: datetime
    #: Whether pods have to move.
    drains: bool = False
    #: The lowest priority of the pods that are asked to leave now: those of higher ones have their turn later.
    evicting: int | None = None
    #: When these were first asked.
    evicting_since: datetime | None = None
    #: When they were last asked.
    evicted_at: datetime | None = None
    #: Why one of them was not let go when it was last asked; empty if none was refused.
    refusal: str = ""
    #: Since when nothing is left on it that has to move.
    emptied_at: datetime | None = None
    #: Since when nothing but the rest of its batch keeps it from being deleted.
    ready_at: datetime | None = None
    #: When the cloud was asked to delete the machine.
    deleted_at: datetime | None = None
    #: What went wrong with that, as long as it may have been done all the same.
    error: str = ""
    #: Why the cloud put the deletion off when it was asked for the first time; empty if it did not. It is asked twice.
    put_off: str = ""
    #: In stored memory: whether the call that marks or deletes it was still to come, or was not answered yet.
    unanswered: bool = False
    #: False if somebody else does it: it is watched, and no step of it is taken.
    ours: bool = True


@dataclass(frozen=True, kw_only=True)
class Evictions:
    """Pods that had to move for removals that began at one time."""

    at: datetime
    count: int


@dataclass(frozen=True, kw_only=True)
class RemovalMemory(Slice):
    """Removals under way. Owned by scale-down: they begin in the stage `scale-down` and go on in `removals`."""

    #: By node.
    removals: dict[str, Removal] = field(default_factory=dict)
    #: Of the last hour, oldest first; nothing where there is no limit on them.
    evictions: tuple[Evictions, ...] = ()

    def advanced(self, removals: dict[str, Removal]) -> Self:
        """Return the memory with these *removals* under way."""
        return replace(self, removals=removals)

    def begun(self, removals: Mapping[str, Removal], moving: int, now: datetime, *, limited: bool) -> Self:
        """Return the memory with further *removals*, for which so many pods are *moving*.

        Evictions are kept for an hour, and only if they are *limited*.
        """
        recent = [evictions for evictions in self.evictions if now < evictions.at + _HOUR]
        if moving:
            recent.append(Evictions(at=now, count=moving))
        return replace(self, removals={**self.removals, **removals}, evictions=tuple(recent) if limited else ())

    def not_begun(self, before: Self) -> Self:
        """Return the memory without all that begins by itself, as nothing does in a dry run."""
        removals = {name: removal for name, removal in self.removals.items() if not removal.ours}
        return replace(self, removals=removals, evictions=before.evictions)

    def unanswered(self, names: Collection[str]) -> Self:
        """Return the memory with a note that calls for these nodes may be under way."""
        begun = {name: replace(self.removals[name], unanswered=True) for name in names if name in self.removals}
        return replace(self, removals={**self.removals, **begun}) if begun else self

    def undeleted(self, outcomes: Iterable[Outcome]) -> list[str]:
        """Return the nodes whose machines were not deleted by *outcomes*. One call deletes several."""
        failed = (each.target for each in outcomes if each.action == "delete-instances" and not each.ok)
        calls = {(known.group, known.deleted_at) for name in failed if (known := self.removals.get(name)) is not None}
        return [
            name for name, each in self.removals.items() if each.deleted_at and (each.group, each.deleted_at) in calls
        ]

    def after_absence(self) -> Self:
        """Forget removals: their marks are taken off, unless the cloud is deleting the machine."""
        return replace(self, removals={})
