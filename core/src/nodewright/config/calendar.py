"""Times of day and week as a configuration says them: when something begins, and in which time zone."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError

from nodewright.api.nearest import nearest
from nodewright.config.wording import written

_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def read_cron(value: object) -> str:
    """Return *value* if it is a cron expression of five fields that is ever true; raises `ValueError` otherwise."""
    if not isinstance(value, str) or len(value.split()) != 5:
        raise ValueError(
            f'write minute, hour, day of month, month and day of week, such as "0 9 * * mon-fri", not {written(value)}'
        )
    try:
        next(CronSim(value, _SOME_DAY))
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise ValueError(f"the {field} can't be read in {written(value)}") from None
    except StopIteration:
        raise ValueError(f"{written(value)} is never true") from None
    return value


def read_time_zone(value: object) -> str:
    """Return *value* if it names a time zone; raises `ValueError` otherwise."""
    try:
        return ZoneInfo(value).key if isinstance(value, str) and value else _no_time_zone(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _no_time_zone(value)


def _no_time_zone(value: object) -> str:
    # Short names mean different things in different places.
    places = [name for name in available_timezones() if "/" in name]
    near = nearest(value, places) if isinstance(value, str) else None
    hint = f"; did you mean {near}?" if near else ""
    raise ValueError(f"write a time zone such as Europe/Berlin, not {written(value)}{hint}")
