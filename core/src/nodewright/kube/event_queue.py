"""The queue of events to write: in order, but events about pods come last and at a limited rate."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Condition
from typing import Any

from nodewright.api.clock import Clock
from nodewright.kube.rate_limiter import RateLimiter

#: Queued events at most, without those about pods.
_MOST_QUEUED = 1000
#: Queued events about pods at most, one for each pod.
_MOST_PODS = 200
#: The pause after a temporary failure, and the attempts for one event.
_PAUSE = timedelta(seconds=10)
_TRIES = 12
#: Seconds between checks whether an event may be written.
_POLL_SECONDS = 0.25


@dataclass(kw_only=True)
class QueuedEvent:
    """An event in the queue."""

    event: dict[str, Any]
    #: The pod that it is about; empty for events that are not rate-limited.
    pod: str = ""
    tries: int = 0


class EventQueue:
    """Hands events from the loop's thread to the writer's thread. Safe to use from both.

    If there are too many, the oldest is dropped and *on_drop* called. Only the newest event of a pod is kept. *limiter*
    limits the rate of events about pods.
    """

    def __init__(self, clock: Clock, limiter: RateLimiter, on_drop: Callable[[], None]) -> None:
        self._clock = clock
        self._on_drop = on_drop
        #: Guards everything below.
        self._changed = Condition()
        self._limiter = limiter
        self._line: deque[QueuedEvent] = deque()
        self._pods: dict[str, QueuedEvent] = {}
        self._writing = False
        self._paused_until: datetime | None = None
        #: While the queue closes, there is no rate limit and no pause.
        self._closing = False
        self._closed = False

    @property
    def room(self) -> int:
        """How many more events about pods fit in."""
        with self._changed:
            return 0 if self._closed else _MOST_PODS - len(self._pods)

    def put(self, event: dict[str, Any], pod: str = "") -> None:
        """Append *event*, or put it among those about pods."""
        with self._changed:
            if self._closed:
                return
            if pod:
                self._pods[pod] = QueuedEvent(event=event, pod=pod)
            else:
                self._line.append(QueuedEvent(event=event))
            full = len(self._line) > _MOST_QUEUED
            if full:
                self._line.popleft()
            self._changed.notify_all()
        if full:
            self._on_drop()

    def take(self) -> QueuedEvent | None:
        """Wait for an event that may be written now and return it; None once the queue is closed. For the writer."""
        with self._changed:
            self._writing = False
            self._changed.notify_all()
            while not self._closed:
                if self._may_write():
                    self._writing = True
                    return self._pop()
                # Poll, as `Clock` may run at another speed than the thread's own timeout.
                queued = self._line or self._pods
                self._changed.wait(_POLL_SECONDS if queued else None)
            return None

    def retry(self, failed: QueuedEvent) -> bool:
        """Put back an event after a temporary failure; return whether it will be tried again."""
        failed.tries += 1
        with self._changed:
            self._paused_until = self._clock.now() + _PAUSE
            last = self._closing or failed.tries >= _TRIES
            if not last and failed.pod:
                self._pods = {failed.pod: failed} | self._pods
            elif not last:
                self._line.appendleft(failed)
        if last:
            self._on_drop()
        return not last

    def limit_by(self, limiter: RateLimiter) -> None:
        """Use another *limiter* for events about pods."""
        with self._changed:
            self._limiter = limiter

    def flush(self, timeout: float) -> bool:
        """Wait until no event may be written now, at most *timeout* seconds; return whether that was reached."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._writing and not self._may_write(), timeout)

    def close(self, timeout: float) -> int:
        """Let all queued events be written for up to *timeout* seconds; return how many are left."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self.flush(timeout)
        with self._changed:
            left = len(self._line) + len(self._pods) + self._writing
            self._closed = True
            self._changed.notify_all()
            return left

    def _may_write(self) -> bool:
        if self._closing:
            return bool(self._line or self._pods)
        now = self._clock.now()
        # A clock that was set back must not extend the pause.
        if self._paused_until is not None and timedelta(0) < self._paused_until - now <= _PAUSE:
            return False
        return bool(self._line) or (bool(self._pods) and self._limiter.is_ready(now))

    def _pop(self) -> QueuedEvent:
        if self._line:
            return self._line.popleft()
        self._limiter.take(self._clock.now())
        return self._pods.pop(next(iter(self._pods)))
