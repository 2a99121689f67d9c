"""The system's clock."""

from datetime import UTC, datetime
from threading import Event


class SystemClock:
    """Implements `nodewright.api.Clock`."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return datetime.now(UTC)

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or *timeout* seconds have passed; return whether it was set."""
        return event.wait(max(0.0, timeout))
