"""What happened in the cloud, and what it cost."""

from collections import deque
from dataclasses import dataclass
from datetime import datetime

from nodewright.api import Clock

#: More than any demo or test needs, little enough to be kept.
_REMEMBERED = 50_000


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One thing that happened."""

    at: datetime
    #: ordered, running, failed, deleting, notice, reclaimed, gone, short, resized.
    event: str
    group: str
    #: The machine's name; empty if it happened to the group.
    machine: str = ""
    detail: str = ""


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Running machines, summed over time."""

    hours: float
    cost: float


class Journal:
    """Keeps entries and the meter of running machines. Written under the cloud's lock only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: deque[Entry] = deque(maxlen=_REMEMBERED)
        self._running: dict[str, tuple[datetime, float]] = {}
        self._hours = 0.0
        self._cost = 0.0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All entries, oldest first."""
        return tuple(self._entries)

    @property
    def spending(self) -> Spending:
        """Machine-hours and their cost until now."""
        now = self._clock.now()
        hours, cost = self._hours, self._cost
        for since, price in self._running.values():
            running = _hours(since, now)
            hours += running
            cost += running * price
        return Spending(hours=hours, cost=cost)

    def note(self, event: str, group: str, machine: str = "", detail: str = "") -> None:
        """Write an entry."""
        self._entries.append(Entry(at=self._clock.now(), event=event, group=group, machine=machine, detail=detail))

    def start_meter(self, machine: str, hourly_price: float) -> None:
        """*machine* runs from now on, at the price that it started with."""
        self._running[machine] = (self._clock.now(), hourly_price)

    def stop_meter(self, machine: str) -> None:
        """*machine* runs no longer; does nothing if it never did."""
        since, price = self._running.pop(machine, (self._clock.now(), 0.0))
        hours = _hours(since, self._clock.now())
        self._hours += hours
        self._cost += hours * price


def _hours(since: datetime, until: datetime) -> float:
    return (until - since).total_seconds() / 3600
