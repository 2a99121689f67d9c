"""Schedules: windows that open again and again, by the clock of a time zone."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nodewright.config.model import Schedule

_SECOND = timedelta(seconds=1)
#: One window may begin before the last one ends; more than so many in a row are not followed.
_MOST_WINDOWS = 50


def open_until(schedule: Schedule, now: datetime) -> datetime | None:
    """Return when the window that is open at *now* shuts, in the schedule's time zone; None if none is open.

    A window is open from the moment on that the schedule names, for as long as it says; hours that a change of clocks
    takes away or brings twice count as they pass.
    """
    local = now.astimezone(ZoneInfo(schedule.time_zone))
    opened = next(CronSim(schedule.from_, local + _SECOND, reverse=True), None)
    if opened is None:
        return None
    shuts = opened.astimezone(UTC) + schedule.for_
    if shuts <= now:
        return None
    coming = CronSim(schedule.from_, local)
    for _ in range(_MOST_WINDOWS):
        opens = next(coming, None)
        if opens is None or opens.astimezone(UTC) > shuts:
            break
        shuts = opens.astimezone(UTC) + schedule.for_
    return shuts.astimezone(local.tzinfo)
