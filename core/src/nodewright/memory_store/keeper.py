"""The keeper: brings memory to its store while the loop goes on, and back when a life begins."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition, Event, Thread

from nodewright.api.clock import Clock
from nodewright.decision.memory import Memory
from nodewright.memory_store.custody import Custody

#: How long to leave the store alone where a right is missing, or memory has no room.
_HOPELESS = timedelta(minutes=5)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class _Offer:
    """Memory that is to be written."""

    memory: Memory
    at: datetime
    ticket: int


class MemoryKeeper:
    """Keeps the memory of one process: a thread writes it, no more often than every *interval* unless it is urgent.

    `load` comes first; methods are for the loop's thread, and but for `load` none raises: what does not get written is
    logged once and tried again.
    """

    def __init__(self, custody: Custody | None, clock: Clock, *, interval: timedelta) -> None:
        """Use the store in *custody*; None keeps nothing."""
        self._custody = custody
        self._clock = clock
        self._interval = interval
        self._thread: Thread | None = None
        # All below is shared with the thread.
        self._changed = Condition()
        self._hurry = Event()
        self._offer: _Offer | None = None
        self._tickets = self._settled = self._written = 0
        self._urgent = self._closing = False
        #: Whether somebody has waited in vain for the write that is under way.
        self._late = False
        self._earliest: datetime | None = None

    @property
    def superseded(self) -> bool:
        """Whether another process has taken the store over."""
        return self._custody is not None and self._custody.superseded

    def load(self, timeout: float = 30.0) -> Memory:
        """Take the store over and return what is in it, as far as it can be understood and is not too old.

        What can't be understood is reported and set aside. Raises `ApiServerError` if the API server does not answer
        for *timeout* seconds: who begins without memory that is there may do things twice.
        """
        if self._custody is None:
            return Memory()
        memory = self._custody.take_over(timeout)
        self._thread = Thread(target=self._work, args=(self._custody,), name="memory", daemon=True)
        self._thread.start()
        return memory

    def peek(self) -> Memory:
        """Return what is in the store as `load` would, but leave it to whom it belongs."""
        return Memory() if self._custody is None else self._custody.peek()

    def keep(self, memory: Memory) -> None:
        """See to it that *memory* is written, if it is another one; returns at once."""
        with self._changed:
            self._take(memory)

    def keep_now(self, memory: Memory, timeout: float = 2.0) -> bool:
        """Write *memory* and wait for it, no longer than *timeout* seconds; tell whether it is written.

        Does not wait at all while a write that took too long is still under way.
        """
        with self._changed:
            ticket = self._take(memory)
            if not ticket:
                return False
            self._urgent = True
            self._hurry.set()
            if self._late:
                return False
            self._late = not self._changed.wait_for(lambda: self._settled >= ticket, timeout)
            return self._written >= ticket

    def close(self, timeout: float = 5.0) -> bool:
        """Write what is left and end; tell whether all is written, *timeout* seconds later at most."""
        with self._changed:
            self._closing = True
            self._hurry.set()
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._written == self._tickets

    def _take(self, memory: Memory) -> int:
        """Let the thread have *memory* and return its ticket, 0 if nothing is written any more."""
        if self._thread is None or self._closing or self.superseded:
            return 0
        self._tickets += 1
        self._offer = _Offer(memory=memory, at=self._clock.now(), ticket=self._tickets)
        self._changed.notify_all()
        return self._tickets

    def _work(self, custody: Custody) -> None:
        while (offer := self._next()) is not None:
            known = custody.holds(offer.memory, offer.at)
            ok = known or self._write(custody, offer)
            with self._changed:
                if not known:
                    self._earliest = self._clock.now() + (_HOPELESS if custody.hopeless else self._interval)
                self._settled = offer.ticket
                self._late = False
                if ok:
                    self._written = offer.ticket
                elif self._offer is None and not self._closing and not custody.superseded:
                    # It is tried again, though nobody waits for it.
                    self._offer = offer
                self._changed.notify_all()

    def _write(self, custody: Custody, offer: _Offer) -> bool:
        try:
            return custody.write(offer.memory, offer.at)
        except Exception:
            _log.exception("memory could not be written")
            return False

    def _next(self) -> _Offer | None:
        """Wait for what is to be written next and return it; None at the end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._offer is not None or self._closing)
                pause = self._pause()
                if pause <= 0:
                    offer, self._offer, self._urgent = self._offer, None, False
                    return offer
                self._hurry.clear()
            self._clock.wait(self._hurry, pause)

    def _pause(self) -> float:
        """Return for how many seconds nothing is to be written."""
        if self._urgent or self._closing or self._earliest is None:
            return 0.0
        pause = self._earliest - self._clock.now()
        # A clock that was set back holds nothing up.
        return pause.total_seconds() if pause <= _HOPELESS else 0.0
