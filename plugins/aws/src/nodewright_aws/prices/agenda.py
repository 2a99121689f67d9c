"""What to ask AWS for, and when."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random

from nodewright.api import Clock, NodewrightError, PermanentError, TemporaryError, ThrottledError

#: A pair of names: where, and the instance type.
Key = tuple[str, str]

_log = logging.getLogger(__name__)
_SOON = timedelta(minutes=1)
#: Of the interval: many replicas and providers that start together shall not ask together.
_JITTER = 0.1
_NOT_UNDERSTOOD = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Agenda:
    """Has everything in use asked for once in an *interval*, and what comes into use at once.

    *what* is asked for, and a *remedy* for those who may not ask, are told in the log when there is trouble.
    """

    def __init__(self, what: str, remedy: str, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._what = what
        self._remedy = remedy
        self._clock = clock
        self._interval = interval
        self._chance = chance
        self._asked: frozenset[Key] = frozenset()
        self._due: datetime | None = None
        self._trouble: NodewrightError | None = None

    @contextmanager
    def questions(self, in_use: frozenset[Key]) -> Iterator[frozenset[Key]]:
        """Yield what to ask for now, often nothing.

        What AWS raises inside, or an answer that is not as it should be, ends the block and is told in the log if it is
        new; nothing is asked for a while then.
        """
        everything = self._due is None or self._clock.now() >= self._due
        questions = in_use if everything else frozenset() if self._trouble else in_use - self._asked
        try:
            yield questions
        except NodewrightError as error:
            self._put_off(error)
        except _NOT_UNDERSTOOD as error:
            self._put_off(PermanentError(f"AWS' answer can't be understood ({type(error).__name__}: {error})"))
        else:
            self._asked = self._asked & in_use | questions
            if everything and questions:
                self._end_trouble()
                self._due = self._later(self._interval)

    def _put_off(self, error: NodewrightError) -> None:
        if type(error) is not type(self._trouble):
            remedy = f"; {self._remedy}" if isinstance(error, PermanentError) else ""
            _log.warning("%s can't be read, and stay as they were: %s%s", self._what, error, remedy)
        self._trouble = error
        self._due = self._later(self._patience(error))

    def _end_trouble(self) -> None:
        if self._trouble:
            _log.info("%s can be read again", self._what)
        self._trouble = None

    def _patience(self, error: NodewrightError) -> timedelta:
        if isinstance(error, ThrottledError) and error.retry_after:
            return max(_SOON, timedelta(seconds=error.retry_after))
        return min(_SOON, self._interval) if isinstance(error, TemporaryError) else self._interval

    def _later(self, wait: timedelta) -> datetime:
        return self._clock.now() + wait * self._chance.uniform(1 - _JITTER, 1 + _JITTER)
