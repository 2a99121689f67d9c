"""The changes of the cluster, kept for a while so that watches can follow them at their own pace."""

from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter
from threading import Condition, Lock

from nodewright_fake.apiserver.status import expired
from nodewright_fake.apiserver.store import Change, Store

#: The most changes that are read at once.
BATCH = 500
_version = attrgetter("version")


@dataclass(frozen=True, kw_only=True)
class Signals:
    """What was asked of all open watches so far; each counter only grows."""

    bookmarks: int = 0
    #: The version at which bookmarks were asked for last.
    bookmarks_at: int = 0
    cuts: int = 0
    closed: bool = False


class Log:
    """The latest changes of one resource. Appended to by the store's writers, read by the threads of watches."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._changes: list[Change] = []
        self._discarded = 0
        self._rung = 0
        self._news = Condition(Lock())
        #: How many watches read this log now.
        self.readers = 0

    @contextmanager
    def opened(self) -> Generator["Log"]:
        """Count one reader more for a while."""
        with self._news:
            self.readers += 1
        try:
            yield self
        finally:
            with self._news:
                self.readers -= 1

    def append(self, change: Change) -> None:
        """Add a change and wake the readers."""
        with self._news:
            self._changes.append(change)
            if len(self._changes) > 2 * self._length:
                self._discard(self._length)
            self._news.notify_all()

    def read(self, after: int, rung: int, timeout: float) -> list[Change]:
        """Return the next changes after a version; waits up to *timeout* seconds for one or for the bell.

        *rung* is what `bell` said before the caller looked at what the bell is rung for.
        Raises `StatusError` 410 when changes that the caller has not seen are gone.
        """
        with self._news:
            if self._rung == rung and not (self._changes and self._changes[-1].version > after):
                self._news.wait(timeout)
            if after < self._discarded:
                raise expired(f"too old resource version: {after} ({self._discarded})")
            if not self._changes or self._changes[-1].version <= after:
                return []
            start = bisect_right(self._changes, after, key=_version)
            return self._changes[start : start + BATCH]

    @property
    def bell(self) -> int:
        """How often the bell was rung."""
        return self._rung

    def ring(self) -> None:
        """Wake all readers: there is something else than changes to look at."""
        with self._news:
            self._rung += 1
            self._news.notify_all()

    def forget(self) -> None:
        """Discard all changes."""
        with self._news:
            self._discard(0)

    def _discard(self, keep: int) -> None:
        surplus = len(self._changes) - keep
        if surplus > 0:
            self._discarded = self._changes[surplus - 1].version
            del self._changes[:surplus]


class Changelog:
    """The logs of all resources of a store, and what is asked of the watches that read them."""

    def __init__(self, store: Store, length: int) -> None:
        self._store = store
        self._length = length
        self._logs: dict[str, Log] = {}
        with store.lock:
            #: The newest version of the cluster up to which every log is complete.
            self.version = store.version
            self._oldest = store.version
            self._unsubscribe = store.subscribe(self._observe)
        self.signals = Signals()

    def _observe(self, change: Change) -> None:
        self.log(change.resource).append(change)
        # Only now: a reader that sees this version finds in its log everything up to it.
        self.version = change.version

    def log(self, resource: str) -> Log:
        """Return the log of a resource."""
        with self._store.lock:
            found = self._logs.get(resource)
            if found is None:
                found = self._logs[resource] = Log(self._length)
            return found

    def check(self, version: int) -> None:
        """Raise `StatusError` 410 if a watch cannot start at *version* any more."""
        if version < self._oldest:
            raise expired(f"too old resource version: {version} ({self._oldest})")

    def compact(self) -> None:
        """Forget all changes so far, as etcd does every few minutes: older versions are answered with 410."""
        with self._store.lock:
            self._oldest = self._store.version
            for log in self._logs.values():
                log.forget()

    def signal(self, *, bookmarks: bool = False, cut: bool = False, close: bool = False) -> None:
        """Ask all open watches for bookmarks, or to break off, or to end for good."""
        with self._store.lock:
            old = self.signals
            self.signals = Signals(
                bookmarks=old.bookmarks + bookmarks,
                bookmarks_at=self._store.version if bookmarks else old.bookmarks_at,
                cuts=old.cuts + cut,
                closed=old.closed or close,
            )
            logs = tuple(self._logs.values())
        for log in logs:
            log.ring()

    def close(self) -> None:
        """Stop following the store and end all watches."""
        self._unsubscribe()
        self.signal(close=True)
