"""A pace: so many at once, and one more each so often."""

from datetime import datetime, timedelta


class Pace:
    """Lets *burst* through at once and then one in each *interval*. For one thread."""

    def __init__(self, interval: timedelta, burst: int) -> None:
        self._interval = interval
        self._slack = interval * (burst - 1)
        #: When the next one would be due if none ever came early.
        self._due: datetime | None = None

    def is_ready(self, now: datetime) -> bool:
        """Tell whether one more may go at *now*."""
        # A clock that was set back must not silence anybody until it catches up.
        return self._due is None or not now < self._due - self._slack <= now + self._interval

    def take(self, now: datetime) -> bool:
        """Let one more go at *now*; tell whether it may."""
        if not self.is_ready(now):
            return False
        due = now if self._due is None or self._due - self._slack > now else max(now, self._due)
        self._due = due + self._interval
        return True
