"""Which places are left alone for a while, because Google asked for that, or did not answer."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TypeVar

from nodewright.api import Clock, CloudUnavailableError, NodewrightError, ThrottledError

from nodewright_gce.resources.address import Place

T = TypeVar("T")

#: A call that failed faster than this may succeed at once.
_SLOW = timedelta(seconds=3)


class BackOff:
    """Makes calls for places. One that is throttled, or does not answer, is not called again for a while.

    Any thread may call.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: By place: until when it is left alone, and why.
        self._alone: dict[Place, tuple[datetime, NodewrightError]] = {}

    def ask(self, place: Place, call: Callable[[], T]) -> T:
        """Return what *call* returns; raises what it raises, and the same again without a call for a while."""
        began = self._clock.now()
        until, why = self._alone.get(place, (began, None))
        if why is not None and began < until:
            raise why
        try:
            answer = call()
        except ThrottledError as error:
            self._alone[place] = self._clock.now() + timedelta(seconds=error.retry_after or 1), error
            raise
        except CloudUnavailableError as error:
            # As long as it took, so that a place that can't be reached costs half of the time at most.
            if (waited := self._clock.now() - began) >= _SLOW:
                self._alone[place] = self._clock.now() + waited, error
            raise
        self._alone.pop(place, None)
        return answer
