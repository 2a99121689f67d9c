"""What to ask AWS for, and when."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random

from nodewright.api import Clock, NodewrightError, PermanentError, TemporaryError, ThrottledError

#: A pair of names: where, and the instance type.
Key = tuple[str, str]

_SOON = timedelta(minutes=1)
#: Of the interval: many replicas and providers that start together shall not ask together.
_JITTER = 0.1


class Agenda:
    """Has everything in use asked for once in an *interval*, and what comes into use at once."""

    def __init__(self, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._clock = clock
        self._interval = interval
        self._chance = chance
        self._asked: frozenset[Key] = frozenset()
        self._due: datetime | None = None
        self._refused = False

    @contextmanager
    def questions(self, in_use: frozenset[Key]) -> Iterator[frozenset[Key]]:
        """Yield what to ask for now, often nothing. After an exception inside, nothing is asked for a while.

        Raises `NodewrightError`, also in place of what an answer raises that is not as it should be.
        """
        everything = self._due is None or self._clock.now() >= self._due
        questions = in_use if everything else frozenset() if self._refused else in_use - self._asked
        try:
            yield questions
        except NodewrightError as error:
            self._refuse(error)
            raise
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            fault = PermanentError(f"AWS' answer can't be understood ({type(error).__name__}: {error})")
            self._refuse(fault)
            raise fault from error
        self._asked = self._asked & in_use | questions
        if everything and questions:
            self._refused = False
            self._due = self._later(self._interval)

    def _refuse(self, error: NodewrightError) -> None:
        self._refused = True
        self._due = self._later(self._patience(error))

    def _patience(self, error: NodewrightError) -> timedelta:
        if isinstance(error, ThrottledError) and error.retry_after:
            return max(_SOON, timedelta(seconds=error.retry_after))
        return min(_SOON, self._interval) if isinstance(error, TemporaryError) else self._interval

    def _later(self, wait: timedelta) -> datetime:
        return self._clock.now() + wait * self._chance.uniform(1 - _JITTER, 1 + _JITTER)
