"""A cache of answers about things that seldom change."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar
from zlib import crc32

from nodewright.api import AccessDeniedError, Clock, NodewrightError, PermanentError, TemporaryError

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

#: Lifetimes are longer by up to this share, so that entries do not all expire at the same time.
_SPREAD = 0.25
#: How long a key that can't be read is left alone.
_PAUSE = timedelta(minutes=1)


def concerns_others(error: NodewrightError) -> bool:
    """Tell whether the next call will fail with *error* too, whatever it asks for."""
    return not isinstance(error, PermanentError) or isinstance(error, AccessDeniedError)


@dataclass(frozen=True, kw_only=True)
class _Entry(Generic[V]):
    due: datetime
    values: tuple[V, ...] = ()
    error: NodewrightError | None = None


class Cache(Generic[K, V]):
    """Values by key, and which of them are due to be read.

    A value stays known while AWS does not answer. Several threads may store different keys.
    """

    def __init__(self, clock: Clock, lifetime: timedelta) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._entries: dict[K, _Entry[V]] = {}

    def due(self, wanted: Iterable[K]) -> list[K]:
        """Return those of *wanted* that are unknown or too old, each once; forget all keys that are not wanted."""
        keys = dict.fromkeys(wanted)
        self._entries = {key: entry for key, entry in self._entries.items() if key in keys}
        now = self._clock.now()
        return [key for key in keys if key not in self._entries or self._entries[key].due <= now]

    def keep(self, key: K, value: V, *, lifetime: timedelta | None = None) -> None:
        """Store *value*."""
        self._entries[key] = _Entry(due=self._later(key, lifetime or self._lifetime), values=(value,))

    def fail(self, key: K, error: NodewrightError, *, needed: bool = True) -> None:
        """Note that *key* could not be read.

        If it is *needed* and unknown, it is due again at once after a temporary error.
        """
        values = self._entries[key].values if key in self._entries else ()
        at_once = needed and not values and isinstance(error, TemporaryError)
        due = self._clock.now() if at_once else self._later(key, _PAUSE)
        self._entries[key] = _Entry(due=due, values=values, error=error)

    def get(self, key: K) -> V:
        """Return the value; if there is none, raises the `NodewrightError` of the last attempt."""
        entry = self._entries.get(key)
        if entry is not None and entry.values:
            return entry.values[0]
        if entry is not None and entry.error is not None:
            raise entry.error
        raise TemporaryError(f"{key} was not read yet")

    def trouble(self, key: K) -> NodewrightError | None:
        """Return the error of the last attempt to read *key*; None if it succeeded."""
        entry = self._entries.get(key)
        return entry.error if entry else None

    def _later(self, key: K, time: timedelta) -> datetime:
        return self._clock.now() + time * (1 + _SPREAD * crc32(repr(key).encode()) / 2**32)
