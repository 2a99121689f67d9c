"""Custody of a store: whose it is, what is in it, and that nobody writes over what a later process has written."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from time import monotonic, sleep

from nodewright.api.clock import Clock
from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, NodewrightError
from nodewright.decision.memory import Memory
from nodewright.memory_store.absence import after_absence
from nodewright.memory_store.envelope import Envelope, NewerFormatError, TooLargeError, UnusableError, seal, unseal
from nodewright.memory_store.store import Store, Stored

#: Memory that has not changed is written again so often, to tell that somebody still looks.
_STILL_HERE = timedelta(minutes=1)
#: What changes often and is found again by any loop has time until then: in a large cluster it is most of memory.
_PATIENT = frozenset({"hints", "standings", "unexamined", "unremovable_until", "examined"})
_URGENT = tuple(each.name for each in fields(Memory) if each.name not in _PATIENT)
_ATTEMPTS = 5
_RETRY_SECONDS = 0.2
_LOSS = "timers, back-offs and open orders would not survive a restart"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Written:
    """How an attempt to write memory went."""

    ok: bool
    #: How many bytes it had.
    size: int = 0
    #: What there was no room for.
    shed: tuple[str, ...] = ()


class _SupersededError(NodewrightError):
    """Another process has taken the store over."""


class Custody:
    """One process' hold on a store. `take_over` comes first; methods are for one thread at a time."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        *,
        identity: str,
        cluster: str = "",
        tell: Callable[[Written], None] = lambda written: None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._identity = identity
        self._cluster = cluster
        self._tell = tell
        #: Version of what is in the store; None while that is not known.
        self._version: str | None = None
        #: Who had it before; None while that is not known.
        self._former: str | None = None
        #: What was written last.
        self._last: Envelope | None = None
        self._shed: tuple[str, ...] = ()
        #: What kind of trouble there is, as far as it was told; empty while all is well.
        self._trouble = ""
        #: Whether what is in the store must not be written over.
        self._sealed = False
        #: Whether another process has taken the store over. Nothing is written then any more.
        self.superseded = False
        #: Whether trying again soon is of no use.
        self.hopeless = False

    def take_over(self, timeout: float) -> Memory:
        """Make the store ours and return what is in it, as far as it can be understood and is not too old.

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
                self._complain("read", error)
                return Memory()
            sleep(_RETRY_SECONDS)

    def peek(self) -> Memory:
        """Return what is in the store and leave it as it is; nothing if it can't be read."""
        try:
            stored = self._store.read()
            opened = unseal(stored.content) if stored is not None and stored.content else None
        except (NodewrightError, UnusableError) as error:
            _log.warning("going on without memory: %s can't be read: %s", self._store.place, error)
            return Memory()
        return Memory() if opened is None else self._as_of_now(opened.envelope)

    def holds(self, memory: Memory, at: datetime) -> bool:
        """Tell whether the store has all of *memory* that matters *at* this time: it need not be written."""
        last = self._last
        if last is None or self._trouble or not timedelta(0) <= at - last.seen_at < _STILL_HERE:
            return False
        return not differ(last.memory, memory)

    def write(self, memory: Memory, at: datetime) -> bool:
        """Write *memory*, which was right *at* this time; tell whether it is in the store now."""
        if self.superseded or self._sealed:
            return False
        size, shed = 0, self._shed
        try:
            envelope = Envelope(memory=memory, seen_at=at, holder=self._identity, cluster=self._cluster)
            sealed = seal(envelope, self._store.limit)
            size, shed = len(sealed.content), sealed.shed
            self._put(sealed.content)
        except _SupersededError as error:
            self.superseded = True
            _log.error("%s", error)
        except (NodewrightError, TooLargeError) as error:
            self._complain("written", error)
        else:
            self._last = envelope
            self._note_success(shed)
            self._tell(Written(ok=True, size=size, shed=shed))
            return True
        self._tell(Written(ok=False, size=size, shed=shed))
        return False

    def _take_over(self) -> Memory:
        stored = self._store.read()
        envelope = self._opened(stored)
        memory = self._as_of_now(envelope) if envelope is not None else Memory()
        self._version = stored.version if stored is not None else ""
        self._former = envelope.holder if envelope is not None else ""
        if self._sealed:
            return memory
        # From here on whoever had it before comes too late. When memory was last right stays as it was: no loop has
        # looked since.
        seen_at = envelope.seen_at if envelope is not None else self._clock.now()
        claim = Envelope(memory=memory, seen_at=seen_at, holder=self._identity, cluster=self._cluster)
        try:
            self._version = self._store.write(seal(claim, self._store.limit).content, self._version)
        except ConflictError:
            raise
        except (NodewrightError, TooLargeError) as error:
            self._complain("written", error)
        return memory

    def _opened(self, stored: Stored | None) -> Envelope | None:
        """Return what is in the store; what is of no use is set aside and reported."""
        if stored is None or not stored.content:
            return None
        try:
            opened = unseal(stored.content)
            if self._cluster and opened.envelope.cluster not in ("", self._cluster):
                raise UnusableError(f"it is about cluster {opened.envelope.cluster}, and this is {self._cluster}")
        except UnusableError as error:
            self._set_aside(stored.content, error)
            return None
        if opened.lost:
            lost = ", ".join(f"{name} {count}" for name, count in opened.lost.items())
            _log.warning("what can't be understood of the memory in %s is forgotten: %s", self._store.place, lost)
        return opened.envelope

    def _set_aside(self, content: bytes, why: UnusableError) -> None:
        place, aside = self._store.place, self._store.aside
        try:
            self._try_to_set_aside(content)
        except NodewrightError as error:
            if isinstance(why, NewerFormatError):
                self._sealed = self.hopeless = True
                what = "the memory in %s is left alone, and none is kept: %s, and it can't be set aside in %s: %s"
                _log.error(what, place, why, aside, error)
            else:
                what = (
                    "beginning without memory, as that in %s is of no use: %s. It can't be set aside in %s either: %s"
                )
                _log.warning(what, place, why, aside, error)
        else:
            what = "beginning without memory, as that in %s is of no use: %s. It is set aside in %s"
            _log.warning(what, place, why, aside)

    def _try_to_set_aside(self, content: bytes) -> None:
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._store.set_aside(content)
            except ApiServerError:
                sleep(_RETRY_SECONDS)
        return self._store.set_aside(content)

    def _as_of_now(self, envelope: Envelope) -> Memory:
        memory, flaw = after_absence(envelope.memory, envelope.seen_at, self._clock.now())
        if flaw:
            _log.warning("the memory in %s is old: %s", self._store.place, flaw)
        return memory

    def _put(self, content: bytes) -> None:
        """Write *content*, unless another process has taken the store over."""
        for _ in range(_ATTEMPTS):
            if self._version is None:
                self._version = self._look()
            try:
                self._version = self._store.write(content, self._version)
                return
            except NodewrightError as error:
                # It may have been written all the same.
                self._version = None
                if not isinstance(error, ConflictError):
                    raise
        raise ConflictError(f"{self._store.place} is changed by somebody else all the time")

    def _look(self) -> str:
        """Return the version of what is in the store now."""
        stored = self._store.read()
        if stored is None:
            return ""
        holder = _holder(stored.content)
        if self._former is None:
            self._former = holder
        if holder not in ("", self._identity, self._former):
            raise _SupersededError(
                f"another autoscaler ({holder}) has taken over the memory in {self._store.place}: this one "
                f"({self._identity}) does not write it any more. Is leader election off, with several of them running?"
            )
        return stored.version

    def _note_success(self, shed: tuple[str, ...]) -> None:
        if self._trouble:
            _log.info("memory is written to %s again", self._store.place)
        self._trouble, self.hopeless = "", False
        if shed and shed != self._shed:
            _log.warning("%s has no room for all memory: without %s", self._store.place, ", ".join(shed))
        self._shed = shed

    def _complain(self, what: str, error: Exception) -> None:
        """Tell of trouble when it begins, and when it becomes one of another kind."""
        trouble = type(error).__name__
        self.hopeless = isinstance(error, AccessDeniedError | TooLargeError)
        if trouble == self._trouble:
            return
        self._trouble = trouble
        again = "" if self.hopeless else " It is tried again."
        _log.warning("memory can't be %s in %s, and %s: %s.%s", what, self._store.place, _LOSS, error, again)


def differ(one: Memory, other: Memory) -> bool:
    """Tell whether two memories differ in what can't wait. What is the very same in both is not looked into."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in _URGENT)
    return any(ours is not theirs and ours != theirs for ours, theirs in pairs)


def _holder(content: bytes) -> str:
    """Return who has written *content*; empty if it does not tell."""
    try:
        return unseal(content).envelope.holder
    except UnusableError:
        return ""
