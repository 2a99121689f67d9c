"""The clock of a story."""

from datetime import UTC, datetime
from threading import Event

from nodewright.testing import FastClock


class StoryClock:
    """Stands still until `begin`, and then runs *speed* times as fast as real time. Implements `nodewright.api.Clock`.

    So a story is the same on a machine on which everything takes long to start.
    """

    def __init__(self, *, speed: float, start: datetime | None = None) -> None:
        self.speed = speed
        self._start = start or datetime.now(UTC).replace(microsecond=0)
        self._running: FastClock | None = None

    def begin(self) -> None:
        """Let time pass from now on."""
        self._running = FastClock(speed=self.speed, start=self._start)

    def now(self) -> datetime:
        """The time of the story."""
        return self._start if self._running is None else self._running.now()

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or as long as *timeout* seconds take when time passes; tell whether it was set."""
        return event.wait(max(0.0, timeout) / self.speed)
