"""The vitals: whether the loop lives, as the health check tells it."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic

from nodewright.config.model import Loop


class Vitals:
    """Notes when loops begin and end well, and finds that too long ago. Safe to use from any thread.

    Nothing is wrong before `began` was called for the first time: a replica that does not lead has no loops. Until the
    first one has ended well, all limits are the longest of the three.
    """

    def __init__(self, loop: Loop, *, now: Callable[[], float] = monotonic) -> None:
        #: Where the limits are from.
        self.loop = loop
        self._now = now
        self._began: float | None = None
        self._well: float | None = None
        #: When the first loop began.
        self._first = 0.0

    def began(self) -> None:
        """Note that a loop begins, or that this replica begins to lead."""
        now = self._now()
        if self._began is None:
            self._first = now
        self._began = now

    def ended_well(self) -> None:
        """Note that a loop came to its end and could see what it decides on."""
        self._well = self._now()

    def trouble(self) -> str:
        """Return what is wrong, empty if nothing is."""
        began, well, now = self._began, self._well, self._now()
        if began is None:
            return ""
        loop = self.loop
        start = max(loop.max_inactivity, loop.max_failing_time, loop.max_startup_time)
        idle = _longer(now - began, loop.max_inactivity if well is not None else start)
        failing = _longer(
            now - (self._first if well is None else well), start if well is None else loop.max_failing_time
        )
        troubles = (
            f"no loop began for {idle}" if idle else "",
            f"no loop ended well for {failing}" if failing else "",
        )
        return "; ".join(filter(None, troubles))


def _longer(seconds: float, limit: timedelta) -> str:
    allowed = limit.total_seconds()
    return f"{seconds:.0f} s (at most {allowed:.0f} s are allowed)" if seconds > allowed else ""
