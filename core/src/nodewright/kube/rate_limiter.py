"""Rate limiters: so many at once, and after that so many per time."""

from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock
from time import monotonic, sleep


class RateLimiter:
    """Lets *burst* pass at once, then one per *interval*; the caller brings the time. For one thread."""

    def __init__(self, interval: timedelta, burst: int) -> None:
        self._interval = interval
        self._slack = interval * (burst - 1)
        #: When the next one would be due if none had ever come early.
        self._due: datetime | None = None

    def is_ready(self, now: datetime) -> bool:
        """Return whether one more may pass at *now*."""
        # A clock that was set back must not block everything until it catches up.
        return self._due is None or not now < self._due - self._slack <= now + self._interval

    def take(self, now: datetime) -> bool:
        """Let one more pass at *now* if it may; return whether it did."""
        if not self.is_ready(now):
            return False
        due = now if self._due is None or self._due - self._slack > now else max(now, self._due)
        self._due = due + self._interval
        return True


class BlockingRateLimiter:
    """Lets *burst* pass at once and *per_second* on average; others wait their turn. Safe to use from any thread.

    It runs on real time, unlike `RateLimiter`, and callers may be queued further ahead than a burst.
    """

    def __init__(
        self,
        per_second: float,
        burst: int,
        *,
        now: Callable[[], float] = monotonic,
        sleep: Callable[[float], None] = sleep,
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._sleep = sleep
        self._tokens = float(burst)
        self._counted_at = now()
        self._lock = Lock()

    def wait(self) -> None:
        """Take a token; sleeps until there is one, first come, first served."""
        with self._lock:
            now = self._now()
            self._tokens = min(self._burst, self._tokens + (now - self._counted_at) * self._per_second)
            self._counted_at = now
            self._tokens -= 1
            seconds = -self._tokens / self._per_second
        if seconds > 0:
            self._sleep(seconds)
