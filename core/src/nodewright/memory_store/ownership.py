"""Ownership of a store: the process that took it over last may write it, and no process before it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic, sleep

from nodewright.api.clock import Clock
from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, NodewrightError
from nodewright.decision.memory import Memory
from nodewright.kube.rights import missing_right
from nodewright.memory_store.envelope import (
    Envelope,
    NewerFormatError,
    TooLargeError,
    UnusableError,
    after_absence,
    decode,
    encode,
)
from nodewright.memory_store.store import Store, Stored

#: Unchanged memory is written again this often, as a sign that loops still run.
_REWRITE_INTERVAL = timedelta(minutes=1)
_ATTEMPTS = 5
_RETRY_SECONDS = 0.2
_LOSS = "timers, back-offs and open orders would not survive a restart"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class WriteResult:
    """The result of one attempt to write memory."""

    ok: bool
    #: The size of the content in bytes; 0 if there is none.
    size: int = 0
    #: Names of what the store had no room for.
    shed: tuple[str, ...] = ()


class _SupersededError(NodewrightError):
    """Another process has taken the store over."""


class Ownership:
    """One process's claim to a store. Call `take_over` first; one thread at a time may call the methods."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        identity: str,
        cluster: str = "",
        on_write: Callable[[WriteResult], None] = lambda result: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._identity = identity
        self._cluster = cluster
        self._on_write = on_write
        #: Version of the store's content; None while unknown.
        self._version: str | None = None
        #: Identity of the owner before us; None while unknown.
        self._previous: str | None = None
        #: The envelope of the last successful write.
        self._last: Envelope | None = None
        self._shed: tuple[str, ...] = ()
        #: The kind of trouble that was last logged; empty while writing works.
        self._trouble = ""
        #: Whether the store holds content that must not be overwritten.
        self._read_only = False
        #: Whether another process has taken the store over. From then on nothing is written.
        self.superseded = False
        #: Whether the next attempt will fail as well, until someone grants a right or memory becomes smaller.
        self.blocked = False

    def take_over(self, timeout: float) -> Memory:
        """Make the store ours and return its memory: what can be understood and is not too old.

        Raises `ApiServerError` if the API server does not answer for *timeout* seconds.
        """
        until = monotonic() + timeout
        while True:
            try:
                return self._take_over()
            except ApiServerError:
                if monotonic() >= until:
                    raise
            except NodewrightError as error:
                self._report_trouble("read", error)
                return Memory()
            sleep(_RETRY_SECONDS)

    def peek(self) -> Memory:
        """Return the store's memory without taking it over; empty memory if it can't be read."""
        try:
            stored = self._store.read()
            decoded = decode(stored.content) if stored is not None and stored.content else None
        except (NodewrightError, UnusableError) as error:
            why = missing_right(error) or error
            _log.warning("continuing without memory: %s can't be read: %s", self._store.place, why)
            return Memory()
        return Memory() if decoded is None else self._still_valid(decoded.envelope)

    def is_stored(self, memory: Memory, at: datetime) -> bool:
        """Return whether the store has everything urgent of *memory* *at* this time, so that no write is needed."""
        last = self._last
        if last is None or self._trouble or not timedelta(0) <= at - last.seen_at < _REWRITE_INTERVAL:
            return False
        return not differ(last.memory, memory)

    def write(self, memory: Memory, at: datetime) -> bool:
        """Write *memory*, which was right *at* this time; return whether the store has it now."""
        if self.superseded or self._read_only:
            return False
        size, shed = 0, self._shed
        try:
            envelope = Envelope(memory=memory, seen_at=at, holder=self._identity, cluster=self._cluster)
            encoded = encode(envelope, self._store.limit)
            size, shed = len(encoded.content), encoded.shed
            self._put(encoded.content)
        except _SupersededError as error:
            self.superseded = True
            _log.error("%s", error)
        except (NodewrightError, TooLargeError) as error:
            self._report_trouble("written", error)
        else:
            self._last = envelope
            self._note_success(shed)
            self._on_write(WriteResult(ok=True, size=size, shed=shed))
            return True
        self._on_write(WriteResult(ok=False, size=size, shed=shed))
        return False

    def _take_over(self) -> Memory:
        stored = self._store.read()
        envelope = self._usable(stored)
        memory = self._still_valid(envelope) if envelope is not None else Memory()
        self._version = stored.version if stored is not None else ""
        self._previous = envelope.holder if envelope is not None else ""
        if self._read_only:
            return memory
        # This write gives the store a new version, so every earlier owner's write conflicts from here on. It keeps the
        # time at which memory was last right: no loop has run since.
        seen_at = envelope.seen_at if envelope is not None else self._clock.now()
        claim = Envelope(memory=memory, seen_at=seen_at, holder=self._identity, cluster=self._cluster)
        try:
            self._version = self._store.write(encode(claim, self._store.limit).content, self._version)
        except ConflictError:
            raise
        except (NodewrightError, TooLargeError) as error:
            self._report_trouble("written", error)
        return memory

    def _usable(self, stored: Stored | None) -> Envelope | None:
        """Return the stored envelope; unusable content is set aside and logged."""
        if stored is None or not stored.content:
            return None
        try:
            decoded = decode(stored.content)
            if self._cluster and decoded.envelope.cluster not in ("", self._cluster):
                raise UnusableError(f"it belongs to cluster {decoded.envelope.cluster}, and this is {self._cluster}")
        except UnusableError as error:
            self._set_aside(stored.content, error)
            return None
        if decoded.lost:
            lost = ", ".join(f"{name} {count}" for name, count in decoded.lost.items())
            _log.warning("parts of the memory in %s can't be understood and are dropped: %s", self._store.place, lost)
        return decoded.envelope

    def _set_aside(self, content: bytes, why: UnusableError) -> None:
        place, aside = self._store.place, self._store.aside
        try:
            self._try_to_set_aside(content)
        except NodewrightError as error:
            if isinstance(why, NewerFormatError):
                self._read_only = self.blocked = True
                what = "the memory in %s is not overwritten, and none is kept: %s, and it can't be set aside in %s: %s"
                _log.error(what, place, why, aside, error)
            else:
                what = "starting without memory, as the one in %s is unusable: %s. It can't be set aside in %s: %s"
                _log.warning(what, place, why, aside, error)
        else:
            what = "starting without memory, as the one in %s is unusable: %s. It is set aside in %s"
            _log.warning(what, place, why, aside)

    def _try_to_set_aside(self, content: bytes) -> None:
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._store.set_aside(content)
            except ApiServerError:
                sleep(_RETRY_SECONDS)
        return self._store.set_aside(content)

    def _still_valid(self, envelope: Envelope) -> Memory:
        memory, flaw = after_absence(envelope.memory, envelope.seen_at, self._clock.now())
        if flaw:
            _log.warning("the memory in %s is out of date: %s", self._store.place, flaw)
        return memory

    def _put(self, content: bytes) -> None:
        """Write *content*, unless another process has taken the store over."""
        for _ in range(_ATTEMPTS):
            if self._version is None:
                self._version = self._current_version()
            try:
                self._version = self._store.write(content, self._version)
                return
            except NodewrightError as error:
                # The write may have succeeded all the same.
                self._version = None
                if not isinstance(error, ConflictError):
                    raise
        raise ConflictError(f"someone else keeps changing {self._store.place}")

    def _current_version(self) -> str:
        """Return the version of the store's content. Raises `_SupersededError` if another process owns it."""
        stored = self._store.read()
        if stored is None:
            return ""
        holder = _holder(stored.content)
        if self._previous is None:
            self._previous = holder
        if holder not in ("", self._identity, self._previous):
            raise _SupersededError(
                f"another autoscaler ({holder}) has taken over the memory in {self._store.place}: this one "
                f"({self._identity}) stops writing it. Is leader election off, with several of them running?"
            )
        return stored.version

    def _note_success(self, shed: tuple[str, ...]) -> None:
        if self._trouble:
            _log.info("memory is written to %s again", self._store.place)
        self._trouble, self.blocked = "", False
        if shed and shed != self._shed:
            _log.warning("%s has no room for all of memory: stored without %s", self._store.place, ", ".join(shed))
        self._shed = shed

    def _report_trouble(self, what: str, error: Exception) -> None:
        """Log trouble when it begins, and when its kind changes."""
        trouble = type(error).__name__
        self.blocked = isinstance(error, AccessDeniedError | TooLargeError)
        if trouble == self._trouble:
            return
        self._trouble = trouble
        again = "" if self.blocked else " It is tried again."
        why = missing_right(error) or error
        _log.warning("memory can't be %s in %s, and %s: %s.%s", what, self._store.place, _LOSS, why, again)


def differ(one: Memory, other: Memory) -> bool:
    """Return whether two memories differ in what can't wait for the next rewrite."""
    pairs = zip(one.slices().values(), other.slices().values(), strict=True)
    return any(ours is not theirs and ours.differs(theirs) for ours, theirs in pairs)


def _holder(content: bytes) -> str:
    """Return the identity of the process that wrote *content*; empty if it can't be read."""
    try:
        return decode(content).envelope.holder
    except UnusableError:
        return ""
