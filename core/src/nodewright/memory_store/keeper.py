"""The keeper: loads memory when the process starts, and writes it on a thread of its own while loops run."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition, Event, Thread

from nodewright.api.clock import Clock
from nodewright.decision.memory import Memory
from nodewright.memory_store.ownership import Ownership

#: The pause between attempts while a right is missing or memory has no room.
_BLOCKED_PAUSE = timedelta(minutes=5)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """Memory to write."""

    memory: Memory
    at: datetime
    ticket: int


class MemoryKeeper:
    """Keeps the memory of one process. Its thread writes at most once every *interval*, except for `keep_now`.

    Call `load` first, and all methods on the loop's thread. Only `load` raises: a failed write is logged once and
    tried again.
    """

    def __init__(self, ownership: Ownership | None, clock: Clock, *, interval: timedelta) -> None:
        """Write to the store of *ownership*; None keeps nothing."""
        self._ownership = ownership
        self._clock = clock
        self._interval = interval
        self._thread: Thread | None = None
        # Everything below is shared with the thread.
        self._changed = Condition()
        self._wake = Event()
        self._offer: _Offer | None = None
        #: Numbers of the latest memory offered, attempted and written.
        self._tickets = self._attempted = self._written = 0
        self._urgent = self._closing = False
        #: Whether `keep_now` has already timed out on the write in progress.
        self._late = False
        self._earliest: datetime | None = None

    @property
    def superseded(self) -> bool:
        """Whether another process has taken the store over."""
        return self._ownership is not None and self._ownership.superseded

    def load(self, timeout: float = 30.0) -> Memory:
        """Take the store over and return its memory: what can be understood and is not too old.

        Content that can't be understood is logged and set aside. Raises `ApiServerError` if the API server does not
        answer for *timeout* seconds: a process that starts without the stored memory could act twice.
        """
        if self._ownership is None:
            return Memory()
        memory = self._ownership.take_over(timeout)
        self._thread = Thread(target=self._work, args=(self._ownership,), name="memory", daemon=True)
        self._thread.start()
        return memory

    def peek(self) -> Memory:
        """Return what `load` would return, without taking the store over."""
        return Memory() if self._ownership is None else self._ownership.peek()

    def keep(self, memory: Memory) -> None:
        """Have *memory* written if it has changed; returns at once."""
        with self._changed:
            self._take(memory)

    def keep_now(self, memory: Memory, timeout: float = 2.0) -> bool:
        """Write *memory* and wait for that, at most *timeout* seconds; return whether it is written.

        Does not wait while an earlier write, on which it has already timed out, is still in progress.
        """
        with self._changed:
            ticket = self._take(memory)
            if not ticket:
                return False
            self._urgent = True
            self._wake.set()
            if self._late:
                return False
            self._late = not self._changed.wait_for(lambda: self._attempted >= ticket, timeout)
            return self._written >= ticket

    def close(self, timeout: float = 5.0) -> bool:
        """Write what is left and end the thread, within *timeout* seconds; return whether everything is written."""
        with self._changed:
            self._closing = True
            self._wake.set()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._written == self._tickets

    def _take(self, memory: Memory) -> int:
        """Hand *memory* to the thread and return its ticket, 0 if nothing is written any more."""
        if self._thread is None or self._closing or self.superseded:
            return 0
        self._tickets += 1
        self._offer = _Offer(memory=memory, at=self._clock.now(), ticket=self._tickets)
        self._changed.notify_all()
        return self._tickets

    def _work(self, ownership: Ownership) -> None:
        while (offer := self._next()) is not None:
            known = ownership.is_stored(offer.memory, offer.at)
            ok = known or self._write(ownership, offer)
            with self._changed:
                if not known:
                    self._earliest = self._clock.now() + (_BLOCKED_PAUSE if ownership.blocked else self._interval)
                self._attempted = offer.ticket
                self._late = False
                if ok:
                    self._written = offer.ticket
                elif self._offer is None and not self._closing and not ownership.superseded:
                    # Try again, though no caller waits for it.
                    self._offer = offer
                self._changed.notify_all()

    def _write(self, ownership: Ownership, offer: _Offer) -> bool:
        try:
            return ownership.write(offer.memory, offer.at)
        except Exception:
            _log.exception("memory could not be written")
            return False

    def _next(self) -> _Offer | None:
        """Wait until a write is due and return it; None at the end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._offer is not None or self._closing)
                pause = self._pause()
                if pause <= 0:
                    offer, self._offer, self._urgent = self._offer, None, False
                    return offer
                self._wake.clear()
            self._clock.wait(self._wake, pause)

    def _pause(self) -> float:
        """Return the seconds until the next write may begin."""
        if self._urgent or self._closing or self._earliest is None:
            return 0.0
        pause = self._earliest - self._clock.now()
        # A clock that was set back delays no write.
        return pause.total_seconds() if pause <= _BLOCKED_PAUSE else 0.0
