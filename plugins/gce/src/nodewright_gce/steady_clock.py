"""A clock for pauses and ages, which must neither grow nor shrink with a correction of the time."""

from datetime import datetime, timedelta
from threading import Event, Lock

from nodewright.api import Clock


class SteadyClock:
    """Goes on from where it was if *clock* is set back. It is then ahead of the time of day, so compare it with itself.

    Implements `nodewright.api.Clock`; any thread may call.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._ahead = timedelta()
        self._last = clock.now()

    def now(self) -> datetime:
        """Return a time that is never before one that was returned earlier."""
        with self._lock:
            now = self._clock.now() + self._ahead
            self._ahead += max(timedelta(), self._last - now)
            self._last = max(self._last, now)
            return self._last

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait as *clock* does."""
        return self._clock.wait(event, timeout)
