"""Attempts to order machines whose answer was lost: they are repeated as they were, so that they count once."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock

from nodewright.api import Clock

from nodewright_gce.groups.names import Names
from nodewright_gce.resources.mig import Mig

#: An order that is not seen by then was never taken.
_OPEN_FOR = timedelta(minutes=1)


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """An order of machines."""

    #: Of the machines, or of the resize request.
    names: tuple[str, ...]
    count: int
    request_id: str
    at: datetime
    #: The size of the group when it was first tried.
    before: int


class Attempts:
    """The orders of which nobody knows yet whether Google has taken them. Safe to use from any thread.

    An order that is repeated under its id is made once. One for another number of machines uses the same names as far
    as these go: Google refuses it if it has made them already.
    """

    def __init__(self, names: Names, clock: Clock) -> None:
        self._names = names
        self._clock = clock
        self._lock = Lock()
        #: By the id of the group.
        self._open: dict[str, Attempt] = {}

    def next(self, group: str, mig: Mig, count: int, taken: Collection[str]) -> Attempt:
        """Return how to order *count* machines of a group, which is *mig* now, none of them with a *taken* name."""
        last = self._last(group)
        names: tuple[str, ...] = ()
        if last is not None and not any(each in taken for each in last.names):
            if last.count == count:
                return last
            names = last.names[:count]
        names += self._names.machines(mig.base_instance_name, count - len(names), {*taken, *names})
        return self._open_with(group, names, mig, count)

    def next_request(self, group: str, mig: Mig, count: int) -> Attempt:
        """Return how to order *count* machines of a group, which is *mig* now, by a resize request."""
        last = self._last(group)
        if last is not None and last.count == count:
            return last
        return self._open_with(group, (self._names.resize_request(),), mig, count)

    def _last(self, group: str) -> Attempt | None:
        with self._lock:
            last = self._open.get(group)
        return last if last is not None and self._clock.now() - last.at < _OPEN_FOR else None

    def _open_with(self, group: str, names: tuple[str, ...], mig: Mig, count: int) -> Attempt:
        attempt = Attempt(
            names=names,
            count=count,
            request_id=self._names.request_id(),
            at=self._clock.now(),
            before=mig.target_size,
        )
        with self._lock:
            self._open[group] = attempt
        return attempt

    def over(self, group: str) -> None:
        """Note that Google has answered the last attempt for a group."""
        with self._lock:
            self._open.pop(group, None)
