"""Liveness: whether the loop is alive, for the health check."""

from collections.abc import Callable
from datetime import timedelta
from threading import get_ident
from time import monotonic

from nodewright.config.model import Loop
from nodewright.runtime.watchdog import hanging


class Liveness:
    """Notes when loops begin and end well, and finds out when that is too long ago. Safe to use from any thread.

    Nothing is wrong before the first call of `began`: a replica that does not lead runs no loops. Until the first loop
    has ended well, each limit is the longest of the three. A plugin that keeps the loop's thread waiting has no such
    grace: the limit is ``loop.maxInactivity`` from the beginning.
    """

    def __init__(self, loop: Loop, *, now: Callable[[], float] = monotonic) -> None:
        #: The settings that have the limits.
        self.loop = loop
        self._now = now
        self._began: float | None = None
        self._ended_well: float | None = None
        #: Why the last loop did not end well.
        self._why = ""
        #: When the first loop began.
        self._first = 0.0
        #: The thread of the loop.
        self._thread = 0

    @property
    def idle(self) -> bool:
        """Whether nothing has begun yet."""
        return self._began is None

    def began(self) -> None:
        """Note that a loop begins, or that this replica begins to lead."""
        now, self._thread = self._now(), get_ident()
        if self._began is None:
            self._first = now
        self._began = now

    def ended_well(self) -> None:
        """Note that a loop came to its end and could see what it decides on."""
        self._ended_well, self._why = self._now(), ""

    def ended_badly(self, why: str) -> None:
        """Note *why* a loop failed, or saw nothing that it could decide on."""
        self._why = why

    def trouble(self) -> str:
        """Return what is wrong; empty if nothing is."""
        began, ended_well, now = self._began, self._ended_well, self._now()
        if began is None:
            return ""
        loop = self.loop
        start = max(loop.max_inactivity, loop.max_failing_time, loop.max_startup_time)
        if ended_well is None:
            idle, failing = _longer(now - began, start), _longer(now - self._first, start)
        else:
            idle, failing = _longer(now - began, loop.max_inactivity), _longer(now - ended_well, loop.max_failing_time)
        troubles = (
            f"no loop began for {idle}" if idle else "",
            f"no loop ended well for {failing}" + (f": {self._why}" if self._why else "") if failing else "",
            hanging(longer_than=loop.max_inactivity, thread=self._thread),
        )
        return "; ".join(filter(None, troubles))


def _longer(seconds: float, limit: timedelta) -> str:
    allowed = limit.total_seconds()
    return f"{seconds:.0f} s (at most {allowed:.0f} s are allowed)" if seconds > allowed else ""
