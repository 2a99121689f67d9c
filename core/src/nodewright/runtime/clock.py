"""The clock of real life."""

from datetime import UTC, datetime
from threading import Event


class SystemClock:
    """Implements `nodewright.api.Clock`."""

    def now(self) -> datetime:
        """The time of day, aware, in UTC."""
        return datetime.now(UTC)

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or *timeout* seconds have passed; tell whether it was set."""
        return event.wait(max(0.0, timeout))
