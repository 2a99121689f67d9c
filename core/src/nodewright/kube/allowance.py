"""The allowance: how many requests may be sent in a while."""

from collections.abc import Callable
from threading import Lock
from time import monotonic, sleep


class Allowance:
    """A token bucket: up to *burst* requests at once, and *per_second* on average. Safe to use from any thread."""

    def __init__(
        self,
        per_second: float,
        burst: int,
        *,
        now: Callable[[], float] = monotonic,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._now = now
        self._wait = wait
        self._left = float(burst)
        self._counted = now()
        self._lock = Lock()

    def spend(self) -> None:
        """Take one request off the allowance; waits until there is one, in the order in which callers came."""
        with self._lock:
            now = self._now()
            self._left = min(self._burst, self._left + (now - self._counted) * self._per_second)
            self._counted = now
            self._left -= 1
            seconds = -self._left / self._per_second
        if seconds > 0:
            self._wait(seconds)
