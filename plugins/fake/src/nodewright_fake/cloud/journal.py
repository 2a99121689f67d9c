"""What happened in the cloud, and what it cost."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from nodewright.api import Clock

#: More than any demo or test needs, little enough to be kept.
_REMEMBERED = 50_000


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing that happened."""

    at: datetime
    #: ordered, running, failed, deleting, notice, reclaimed, gone, short, resized, refused, hangs, recovers.
    event: str
    group: str
    #: The machine's name; empty if it happened to the group.
    machine: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Running machines, summed over time."""

    hours: float = 0.0
    cost: float = 0.0

    def plus(self, hours: float, hourly_price: float) -> "Spending":
        """With so many more hours at a price."""
        return Spending(hours=self.hours + hours, cost=self.cost + hours * hourly_price)


@dataclass(frozen=True, kw_only=True)
class _Running:
    group: str
    since: datetime
    hourly_price: float


class Journal:
    """Keeps entries and the meter of running machines. Written under the cloud's lock only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: deque[Entry] = deque(maxlen=_REMEMBERED)
        #: How many were ever written.
        self.written = 0
        self._running: dict[str, _Running] = {}
        self._ended: dict[str, Spending] = {}

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries that are remembered, oldest first."""
        return tuple(self._entries)

    def since(self, written: int) -> tuple[Entry, ...]:
        """Return the entries that came after the first *written* ones, but for those that were forgotten since."""
        fresh = min(self.written - written, len(self._entries))
        return tuple(islice(reversed(self._entries), fresh))[::-1]

    @property
    def spending(self) -> dict[str, Spending]:
        """What each group used until now, and what it cost."""
        spending = dict(self._ended)
        now = self._clock.now()
        for running in self._running.values():
            _charge(spending, running, now)
        return spending

    def note(self, event: str, group: str, machine: str = "", detail: str = "") -> None:
        """Write an entry."""
        self.written += 1
        self._entries.append(Entry(at=self._clock.now(), event=event, group=group, machine=machine, detail=detail))

    def start_meter(self, machine: str, group: str, hourly_price: float) -> None:
        """*machine* runs from now on, at the price that it started with."""
        self._running[machine] = _Running(group=group, since=self._clock.now(), hourly_price=hourly_price)

    def stop_meter(self, machine: str) -> None:
        """*machine* runs no longer; does nothing if it never did."""
        running = self._running.pop(machine, None)
        if running is not None:
            _charge(self._ended, running, self._clock.now())


def _charge(spending: dict[str, Spending], running: _Running, until: datetime) -> None:
    hours = (until - running.since).total_seconds() / 3600
    spending[running.group] = spending.get(running.group, Spending()).plus(hours, running.hourly_price)
