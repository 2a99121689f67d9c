"""When to ask AWS for which prices."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random

from nodewright.api import Clock, NodewrightError, PermanentError, TemporaryError, ThrottledError

#: A place, which is a region or zone, and an instance type.
Key = tuple[str, str]

_log = logging.getLogger(__name__)
_SOON = timedelta(minutes=1)
#: Share of the interval: replicas and providers that start together should not ask together.
_JITTER = 0.1
_NOT_PARSED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class RefreshSchedule:
    """Makes all prices in use due once per *interval*, and prices that come into use at once.

    Failures are logged with *what* was to be read, and with *advice* for a missing permission.
    """

    def __init__(self, what: str, advice: str, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._what = what
        self._advice = advice
        self._clock = clock
        self._interval = interval
        self._chance = chance
        self._asked: frozenset[Key] = frozenset()
        self._next: datetime | None = None
        self._trouble: NodewrightError | None = None

    @contextmanager
    def due(self, in_use: frozenset[Key]) -> Iterator[frozenset[Key]]:
        """Yield what to ask for now, often nothing.

        An error of AWS in the block, or an answer that can't be parsed, ends the block. It is logged if it is new, and
        nothing is due for a while.
        """
        everything = self._next is None or self._clock.now() >= self._next
        due = in_use if everything else frozenset() if self._trouble else in_use - self._asked
        try:
            yield due
        except NodewrightError as error:
            self._put_off(error)
        except _NOT_PARSED as error:
            self._put_off(PermanentError(f"AWS' answer can't be parsed ({type(error).__name__}: {error})"))
        else:
            self._asked = self._asked & in_use | due
            if everything and due:
                self._end_trouble()
                self._next = self._later(self._interval)

    def _put_off(self, error: NodewrightError) -> None:
        if type(error) is not type(self._trouble):
            advice = f"; {self._advice}" if isinstance(error, PermanentError) else ""
            _log.warning("%s can't be read, so they stay as they were: %s%s", self._what, error, advice)
        self._trouble = error
        self._next = self._later(self._pause(error))

    def _end_trouble(self) -> None:
        if self._trouble:
            _log.info("%s can be read again", self._what)
        self._trouble = None

    def _pause(self, error: NodewrightError) -> timedelta:
        if isinstance(error, ThrottledError) and error.retry_after:
            return max(_SOON, timedelta(seconds=error.retry_after))
        return min(_SOON, self._interval) if isinstance(error, TemporaryError) else self._interval

    def _later(self, wait: timedelta) -> datetime:
        return self._clock.now() + wait * self._chance.uniform(1 - _JITTER, 1 + _JITTER)
