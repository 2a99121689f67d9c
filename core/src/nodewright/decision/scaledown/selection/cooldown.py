"""The cooldown: after nodes came, went or would not go, none begins to go for a while."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from nodewright.config.model import ScaleDown
from nodewright.decision.memory import GroupChanges, Memory

_NOTHING = GroupChanges()


def cooldown(memory: Memory, settings: ScaleDown, now: datetime, group: str | None = None) -> str | None:
    """Return until when, and after what, no node begins to go; None if nodes may go.

    With delays that hold for the group concerned, only nodes of that *group* are meant, and without one nothing pauses.
    """
    for end, event in _pauses(memory, settings, group):
        if now < end:
            where = " of its group" if settings.delay_per_group else ""
            return f"until {end:%H:%M:%S}, after a {event}{where}"
    return None


def pause_ends(memory: Memory, settings: ScaleDown, group: str | None = None) -> datetime | None:
    """Return when the last of all these pauses ends, or has ended; None if there was none."""
    return max((end for end, _ in _pauses(memory, settings, group)), default=None)


def _pauses(memory: Memory, settings: ScaleDown, group: str | None) -> Iterator[tuple[datetime, str]]:
    """Yield when each pause ends, and what it comes after."""
    if not settings.delay_per_group:
        last = GroupChanges(
            grown=memory.last_scale_up, shrunk=memory.last_scale_down, stuck=memory.last_scale_down_failure
        )
    else:
        last = memory.changes.get(group, _NOTHING) if group is not None else _NOTHING
    for at, delay, event in (
        (last.grown, settings.delay_after_add, "scale-up"),
        (last.shrunk, settings.delay_after_delete, "removal"),
        (last.stuck, settings.delay_after_failure, "failed removal"),
    ):
        if at is not None:
            yield at + delay, event


def changed(changes: Mapping[str, GroupChanges], groups: Iterable[str], **moments: datetime) -> dict[str, GroupChanges]:
    """Return *changes* with what happened to *groups*, by the names of the fields."""
    return {**changes, **{group: replace(changes.get(group, _NOTHING), **moments) for group in groups}}
