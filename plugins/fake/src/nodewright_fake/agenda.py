"""The agenda: what will happen in the world, and when."""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count
from threading import Event, RLock

from nodewright.api import Clock


class Agenda:
    """Callbacks by the time they are due. Safe to use from any thread; callbacks run on the world's thread."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        #: Set whenever an entry is added. A thread that waits for the next entry waits on this, and clears it.
        self.changed = Event()
        self._lock = RLock()
        self._order = count()
        self._entries: list[tuple[datetime, str, int, Callable[[], None]]] = []

    def after(self, seconds: float, action: Callable[[], None], *, key: str = "") -> None:
        """Do *action* in *seconds* of the world's time; see `at`."""
        self.at(self.clock.now() + timedelta(seconds=seconds), action, key=key)

    def at(self, moment: datetime, action: Callable[[], None], *, key: str = "") -> None:
        """Do *action* at *moment*; those of one moment are done by key, and then in the order in which they were added.

        Entries that several threads add need keys, so that their order does not depend on chance.
        """
        with self._lock:
            heapq.heappush(self._entries, (moment, key, next(self._order), action))
        self.changed.set()

    @property
    def next_moment(self) -> datetime | None:
        """When the next entry is due; None if there is none."""
        with self._lock:
            return self._entries[0][0] if self._entries else None

    def run_due(self) -> bool:
        """Do everything that is due now, on the calling thread; return whether there was anything."""
        done = False
        while True:
            with self._lock:
                if not self._entries or self._entries[0][0] > self.clock.now():
                    return done
                *_, action = heapq.heappop(self._entries)
            action()
            done = True
