"""Schedules: windows that open again and again, by the clock of a time zone."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nodewright.config.model import Schedule

#: Clocks are put back by no more.
_LARGEST_CHANGE = timedelta(hours=2)
#: One window may begin before the last one ends; more than so many in a row are not followed.
_MOST_WINDOWS = 50


def open_until(schedule: Schedule, now: datetime) -> datetime | None:
    """Return when the window that is open at *now* shuts, in the schedule's time zone; None if none is open.

    A window is open from the moment on that the schedule names, for as long as it says; hours that a change of clocks
    takes away or brings twice count as they pass.
    """
    zone = ZoneInfo(schedule.time_zone)
    # In an hour that comes twice, what the clock shows later may have been before.
    backwards = CronSim(schedule.from_, (now + _LARGEST_CHANGE).astimezone(zone), reverse=True)
    opened = next((tick for tick in backwards if tick.astimezone(UTC) <= now), None)
    if opened is None:
        return None
    shuts = opened.astimezone(UTC) + schedule.for_
    if shuts <= now:
        return None
    for opens in islice(CronSim(schedule.from_, opened), _MOST_WINDOWS):
        if opens.astimezone(UTC) > shuts:
            break
        shuts = opens.astimezone(UTC) + schedule.for_
    return shuts.astimezone(zone)
