"""The clock, so that tests and demos can replace it."""

from datetime import datetime
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """The only source of time: code that needs the time, or waits, asks a clock. Safe to use from any thread."""

    def now(self) -> datetime:
        """Return the current time, aware, in UTC."""
        ...

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set or *timeout* seconds of this clock have passed; return whether it was set."""
        ...
