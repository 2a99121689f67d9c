"""Clocks for tests and demos: one that a test moves by hand, and one that runs faster than real time."""

import time
from datetime import UTC, datetime, timedelta
from threading import Condition, Event

#: When the clocks of tests start, and the time of everything that a builder makes.
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)


class SteppedClock:
    """Stands still until `advance` is called. Implements `nodewright.api.Clock`; safe to use from any thread."""

    def __init__(self, start: datetime = EPOCH) -> None:
        if start.tzinfo is None:
            raise ValueError(f"the clock starts at {start}: give it a time zone, such as UTC")
        self._now = start
        self._moved = Condition()

    def now(self) -> datetime:
        """Return the time to which it was advanced last."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move on by *seconds*, and wake every `wait` whose time has come."""
        with self._moved:
            self._now += timedelta(seconds=seconds)
            self._moved.notify_all()

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or the clock was advanced by *timeout* seconds; return whether it was set."""
        until = self._now + timedelta(seconds=timeout)
        with self._moved:
            # Setting the event does not notify this condition, so look at the event many times a second.
            while not event.is_set() and self._now < until:
                self._moved.wait(0.02)
        return event.is_set()


class FastClock:
    """Runs *speed* times as fast as real time. Implements `nodewright.api.Clock`; safe to use from any thread."""

    def __init__(self, speed: float = 1.0, start: datetime | None = None) -> None:
        self.speed = speed
        self._start = start or datetime.now(UTC).replace(microsecond=0)
        self._origin = time.monotonic()

    def now(self) -> datetime:
        """Return the start time plus *speed* times the real seconds since then."""
        return self._start + timedelta(seconds=(time.monotonic() - self._origin) * self.speed)

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or *timeout* seconds of this clock have passed; return whether it was set."""
        return event.wait(max(0.0, timeout) / self.speed)
