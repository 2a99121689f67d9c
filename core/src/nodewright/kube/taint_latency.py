"""Taint latency: how long it takes until a mark that was written to a node is seen by those who watch."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from threading import Lock

from nodewright.api.clock import Clock
from nodewright.objects import Node
from nodewright.objects.node import TO_BE_DELETED

_REMEMBERED = timedelta(hours=1)


class TaintLatency:
    """Measures from the writing of marks until our own watch shows them. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._written: dict[str, datetime] = {}
        self._measured: list[tuple[datetime, timedelta]] = []

    @property
    def longest(self) -> timedelta | None:
        """The longest latency of the past hour; None if none was measured."""
        now = self._clock.now()
        with self._lock:
            self._measured = [(at, took) for at, took in self._measured if now - at <= _REMEMBERED]
            return max((took for _, took in self._measured), default=None)

    def writing(self, name: str) -> None:
        """Note that the mark of a node is about to be written."""
        with self._lock:
            self._written[name] = self._clock.now()

    def forget(self, name: str) -> None:
        """Note that the mark of a node was not written, or is about to be taken off."""
        with self._lock:
            self._written.pop(name, None)

    def saw(self, nodes: Iterable[Node]) -> None:
        """Note nodes as the watch shows them."""
        if not self._written:
            return
        with self._lock:
            now = self._clock.now()
            for node in nodes:
                if node.name in self._written and node.taint(TO_BE_DELETED):
                    self._measured.append((now, max(timedelta(0), now - self._written.pop(node.name))))
