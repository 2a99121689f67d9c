"""Time, as a thing that can be replaced."""

from datetime import datetime
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """All time that Nodewright reads and spends. Safe to use from any thread."""

    def now(self) -> datetime:
        """The time of day, aware, in UTC."""
        ...

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or *timeout* seconds of this clock have passed; tell whether it was set."""
        ...
