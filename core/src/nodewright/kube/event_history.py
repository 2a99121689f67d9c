"""The history of events: what was told of which object, how often, and when the next may be written."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar
from uuid import uuid4

from nodewright.kube.pace import Pace

_PAUSE = timedelta(minutes=5)
_REMEMBERED = 8192
#: What client-go lets through of one object, whatever the reason, where repeats are wanted.
_DUPLICATES = 25
#: Longest name of an object of the API, and what a dot and the series' own part take of it.
_LONGEST_NAME = 253
_SUFFIX = 17

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class About:
    """The object that an event is about."""

    kind: str
    name: str
    #: Empty for objects of the cluster.
    namespace: str = ""
    uid: str = ""
    #: Group and version of its API.
    api: str = "v1"


@dataclass(kw_only=True)
class Series:
    """The same told of the same object, which is one event that is counted up."""

    #: Of the event.
    name: str
    first: datetime
    count: int = 0


class EventHistory:
    """Remembers the last few thousand objects and events, and forgets those first that nobody told of for longest.

    As Cluster Autoscaler's filter: one event for each object and reason, then one more in five minutes; of what is told
    by its *message*, one for each message. With *duplicates* 25 of each object, then one in five minutes.
    """

    def __init__(self, *, duplicates: bool = False) -> None:
        self._duplicates = duplicates
        self._paces: _Latest[Hashable, Pace] = _Latest()
        self._series: _Latest[Hashable, Series] = _Latest()

    def note(
        self, about: About, reason: str, message: str, now: datetime, *, by_message: bool = False
    ) -> Series | None:
        """Count one more; return the series if it may be written now, None if not."""
        series = self._series.get((about, reason, message))
        if series is None:
            series = Series(name=event_name(about.name), first=now)
            self._series.put((about, reason, message), series)
        series.count += 1
        key: Hashable = about if self._duplicates else message if by_message else (about, reason)
        pace = self._paces.get(key)
        if pace is None:
            pace = Pace(_PAUSE, _DUPLICATES if self._duplicates else 1)
            self._paces.put(key, pace)
        return series if pace.take(now) else None


class _Latest(Generic[_Key, _Value]):
    """As many as are remembered, without those that were not asked for for longest."""

    def __init__(self) -> None:
        self._known: dict[_Key, _Value] = {}

    def get(self, key: _Key) -> _Value | None:
        value = self._known.pop(key, None)
        if value is not None:
            self._known[key] = value
        return value

    def put(self, key: _Key, value: _Value) -> None:
        self._known[key] = value
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]


def event_name(of: str) -> str:
    """Return a name for an event about an object of the name *of*, which may be as long as a name can be."""
    return f"{of[: _LONGEST_NAME - _SUFFIX].rstrip('.-')}.{uuid4().hex[:16]}"
