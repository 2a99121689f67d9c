"""When to ask Google for its prices."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from random import Random

from nodewright.api import Clock, NodewrightError, PermanentError, TemporaryError, ThrottledError

_log = logging.getLogger(__name__)
_SOON = timedelta(minutes=1)
#: Share of the interval: replicas and providers that start together should not ask together.
_JITTER = 0.1
_NOT_PARSED = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ADVICE = "enable the Cloud Billing API in the project, or set prices.onDemand to table"


class RefreshSchedule:
    """Makes the catalogue due once per *interval*."""

    def __init__(self, clock: Clock, interval: timedelta, chance: Random) -> None:
        self._clock = clock
        self._interval = interval
        self._chance = chance
        self._next: datetime | None = None
        self._trouble: NodewrightError | None = None

    @property
    def due(self) -> bool:
        """Whether it is time to read it."""
        return self._next is None or self._clock.now() >= self._next

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read it in the block. An error of Google ends the block and puts it off; it is logged if it is new."""
        try:
            yield
        except NodewrightError as error:
            self._put_off(error)
        except _NOT_PARSED as error:
            self._put_off(PermanentError(f"Google's answer can't be parsed ({type(error).__name__}: {error})"))
        else:
            if self._trouble:
                _log.info("the billing catalogue can be read again")
            self._trouble = None
            self._next = self._later(self._interval)

    def _put_off(self, error: NodewrightError) -> None:
        if type(error) is not type(self._trouble):
            advice = f"; {_ADVICE}" if isinstance(error, PermanentError) else ""
            _log.warning("the billing catalogue can't be read, so prices stay as they were: %s%s", error, advice)
        self._trouble = error
        self._next = self._later(self._pause(error))

    def _pause(self, error: NodewrightError) -> timedelta:
        if isinstance(error, ThrottledError) and error.retry_after:
            return max(_SOON, timedelta(seconds=error.retry_after))
        return min(_SOON, self._interval) if isinstance(error, TemporaryError) else self._interval

    def _later(self, wait: timedelta) -> datetime:
        return self._clock.now() + wait * self._chance.uniform(1 - _JITTER, 1 + _JITTER)
