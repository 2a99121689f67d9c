"""The cool-down: after a scale-up, a removal or a failed removal, no removal starts for a while."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from nodewright.config.model import ScaleDown
from nodewright.decision.memory.slices import Slice


@dataclass(frozen=True, kw_only=True)
class Changes:
    """When a group, or the cluster, last changed or would not."""

    grown: datetime | None = None
    shrunk: datetime | None = None
    #: When the removal of a node last failed.
    stuck: datetime | None = None


_NOTHING = Changes()


@dataclass(frozen=True, kw_only=True)
class CooldownMemory(Slice):
    """When groups last changed. Owned by this module: growth and removals say what happened."""

    cluster: Changes = _NOTHING
    #: By group.
    groups: dict[str, Changes] = field(default_factory=dict)

    def grown(self, groups: Collection[str], now: datetime) -> Self:
        """Return the memory after *groups* were asked for more nodes at *now*; as it is if none was."""
        return self._changed(groups, grown=now)

    def shrunk(self, groups: Collection[str], now: datetime) -> Self:
        """Return the memory after nodes of *groups* were deleted at *now*; as it is if none was."""
        return self._changed(groups, shrunk=now)

    def stuck(self, groups: Collection[str], now: datetime) -> Self:
        """Return the memory after removals in *groups* failed at *now*; as it is if none did."""
        return self._changed(groups, stuck=now)

    def among(self, groups: Iterable[str]) -> Self:
        """Return the memory of those *groups* only."""
        return replace(self, groups={group: self.groups[group] for group in groups if group in self.groups})

    def not_grown(self, before: Self, groups: Collection[str], *, at_all: bool) -> Self:
        """Return the memory with *groups* grown as *before*; the cluster, too, if none has grown *at_all*."""
        return replace(
            self,
            cluster=self.cluster if at_all else replace(self.cluster, grown=before.cluster.grown),
            groups={
                group: replace(last, grown=before.groups.get(group, _NOTHING).grown) if group in groups else last
                for group, last in self.groups.items()
            },
        )

    def pause(self, settings: ScaleDown, now: datetime, group: str | None = None) -> str | None:
        """Return until when, and after what, no removal starts; None if removals may start.

        Where delays count by group, only nodes of that *group* are meant, and without one nothing pauses.
        """
        for end, event in self._pauses(settings, group):
            if now < end:
                where = " of its group" if settings.delay_per_group else ""
                return f"until {end:%H:%M:%S}, after a {event}{where}"
        return None

    def pause_ends(self, settings: ScaleDown, group: str | None = None) -> datetime | None:
        """Return when the last of all these pauses ends, or has ended; None if there was none."""
        return max((end for end, _ in self._pauses(settings, group)), default=None)

    def _pauses(self, settings: ScaleDown, group: str | None) -> Iterator[tuple[datetime, str]]:
        """Yield when each pause ends, and what it comes after."""
        last = self.cluster
        if settings.delay_per_group:
            last = self.groups.get(group, _NOTHING) if group is not None else _NOTHING
        for at, delay, event in (
            (last.grown, settings.delay_after_add, "scale-up"),
            (last.shrunk, settings.delay_after_delete, "removal"),
            (last.stuck, settings.delay_after_failure, "failed removal"),
        ):
            if at is not None:
                yield at + delay, event

    def _changed(self, groups: Collection[str], **moments: datetime) -> Self:
        if not groups:
            return self
        changed = {group: replace(self.groups.get(group, _NOTHING), **moments) for group in groups}
        return replace(self, cluster=replace(self.cluster, **moments), groups={**self.groups, **changed})
