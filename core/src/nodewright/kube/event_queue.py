"""The queue of events that are to be written: in order, but those about pods after all others and at a pace."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition
from typing import Any

from nodewright.api.clock import Clock
from nodewright.kube.pace import Pace

#: So many events may wait to be written, besides those about pods.
_WAITING = 1000
#: And so many about pods: one for each.
_PODS = 200
#: After a failure that passes, nothing is written for this long, and one event is tried so often.
_REST = timedelta(seconds=10)
_TRIES = 12
#: How often, in seconds, to look whether the time has come to go on.
_LOOK_SECONDS = 0.25


@dataclass(kw_only=True)
class Waiting:
    """An event that waits."""

    event: dict[str, Any]
    #: The pod that it is about, if it has to keep to the pace.
    pod: str = ""
    tries: int = 0


class EventQueue:
    """Between the loop's thread, which puts events in, and the one that writes them. Safe for both.

    If too many wait, the oldest is dropped and *on_drop* called. Of a pod only the newest waits. *pace* is that of
    events about pods.
    """

    def __init__(self, clock: Clock, pace: Pace, on_drop: Callable[[], None]) -> None:
        self._clock = clock
        self._on_drop = on_drop
        #: Guards all that is below.
        self._changed = Condition()
        self._pace = pace
        self._line: deque[Waiting] = deque()
        self._pods: dict[str, Waiting] = {}
        self._at_work = False
        self._rests_until: datetime | None = None
        #: At the end there is no pace to keep, and no rest.
        self._hurried = False
        self._closed = False

    @property
    def room(self) -> int:
        """How many more events about pods may be put in."""
        with self._changed:
            return 0 if self._closed else _PODS - len(self._pods)

    def put(self, event: dict[str, Any], pod: str = "") -> None:
        """Put *event* at the end, or among those about pods."""
        with self._changed:
            if self._closed:
                return
            if pod:
                self._pods[pod] = Waiting(event=event, pod=pod)
            else:
                self._line.append(Waiting(event=event))
            full = len(self._line) > _WAITING
            if full:
                self._line.popleft()
            self._changed.notify_all()
        if full:
            self._on_drop()

    def take(self) -> Waiting | None:
        """Wait for an event that may be written now and return it; None once the queue is closed. For the writer."""
        with self._changed:
            self._at_work = False
            self._changed.notify_all()
            while not self._closed:
                if self._may_write():
                    self._at_work = True
                    return self._pop()
                # The clock may be another one than that of threads.
                waits = self._line or self._pods
                self._changed.wait(_LOOK_SECONDS if waits else None)
            return None

    def again(self, waiting: Waiting) -> bool:
        """Put back what could not be written for the moment; tell whether there will be another try."""
        waiting.tries += 1
        with self._changed:
            self._rests_until = self._clock.now() + _REST
            last = self._hurried or waiting.tries >= _TRIES
            if not last and waiting.pod:
                self._pods = {waiting.pod: waiting} | self._pods
            elif not last:
                self._line.appendleft(waiting)
        if last:
            self._on_drop()
        return not last

    def keep_to(self, pace: Pace) -> None:
        """Go on at another *pace*."""
        with self._changed:
            self._pace = pace

    def flush(self, timeout: float) -> bool:
        """Wait until nothing may be written now, for up to *timeout* seconds; tell whether that came."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._at_work and not self._may_write(), timeout)

    def close(self, timeout: float) -> int:
        """Let all that waits be written, for up to *timeout* seconds, and return how many events are left then."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()
        self.flush(timeout)
        with self._changed:
            left = len(self._line) + len(self._pods) + self._at_work
            self._closed = True
            self._changed.notify_all()
            return left

    def _may_write(self) -> bool:
        if self._hurried:
            return bool(self._line or self._pods)
        now = self._clock.now()
        # A clock that was set back must not hold it up until it catches up.
        if self._rests_until is not None and timedelta(0) < self._rests_until - now <= _REST:
            return False
        return bool(self._line) or (bool(self._pods) and self._pace.is_ready(now))

    def _pop(self) -> Waiting:
        if self._line:
            return self._line.popleft()
        self._pace.take(self._clock.now())
        return self._pods.pop(next(iter(self._pods)))
