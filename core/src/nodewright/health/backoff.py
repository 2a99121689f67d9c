"""Back-off: a group that failed to grow is left alone, longer each time."""

from collections.abc import Mapping
from datetime import datetime

from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.config.model import BackoffSettings
from nodewright.memory import Backoff

TIMEOUT = InstanceError(error_class=ErrorClass.OTHER, code="timeout", message="machines did not come in time")


def back_off(known: Backoff | None, cause: InstanceError, settings: BackoffSettings, now: datetime) -> Backoff:
    """Return the back-off after a failure at *now*, given what is *known* of earlier ones.

    Failures while a back-off runs don't lengthen it; the next one after its end doubles the pause, up to a maximum.
    """
    if known is not None and now < known.until:
        until, pause = known.until, known.pause
    else:
        pause = settings.initial if known is None else min(known.pause * 2, settings.max)
        until = now + pause
    return Backoff(until=until, pause=pause, failed_at=now, error_class=cause.error_class, code=cause.code)


def remembered(backoffs: Mapping[str, Backoff], settings: BackoffSettings, now: datetime) -> dict[str, Backoff]:
    """Return *backoffs* without those whose last failure is so long ago that the next counts as the first."""
    return {group: known for group, known in backoffs.items() if now - known.failed_at < settings.reset_after}
