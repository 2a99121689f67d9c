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
    """Makes calls of one kind. A place that does not answer, and a region that is throttled, is left alone for a while.

    Google counts calls by region. Any thread may call.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        #: By place: until when it is left alone, and why.
        self._alone: dict[Place, tuple[datetime, NodewrightError]] = {}

    def ask(self, place: Place, call: Callable[[], T]) -> T:
        """Return what *call* returns; raises what it raises, and the same again without a call for a while."""
        began = self._clock.now()
        region = Place(project=place.project, name=place.region, regional=True)
        for each in (place, region):
            self._check(each, began)
        try:
            return call()
        except ThrottledError as error:
            self._alone[region] = self._clock.now() + timedelta(seconds=error.retry_after or 1), error
            raise
        except CloudUnavailableError as error:
            # As long as it took, so that a place that can't be reached costs half of the time at most.
            if (waited := self._clock.now() - began) >= _SLOW:
                self._alone[place] = self._clock.now() + waited, error
            raise

    def _check(self, place: Place, now: datetime) -> None:
        until, why = self._alone.get(place, (now, None))
        if why is None:
            return
        if until <= now:
            self._alone.pop(place, None)
        elif isinstance(why, ThrottledError):
            raise ThrottledError(str(why), retry_after=(until - now).total_seconds())
        else:
            raise why
