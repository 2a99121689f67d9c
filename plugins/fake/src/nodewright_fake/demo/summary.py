"""The summary of a demo: waiting times, machines, costs, decisions, troubles."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil

from nodewright_fake.demo.watcher import Cause


@dataclass(frozen=True, kw_only=True)
class Bill:
    """The machines of one group, summed over time."""

    group: str
    hours: float
    cost: float


@dataclass(frozen=True, kw_only=True)
class Tally:
    """How often something was done for a reason."""

    cause: Cause
    #: Decisions, and the nodes or machines that they were about.
    decisions: int
    nodes: int


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """How often something went wrong."""

    what: str
    times: int


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The figures."""

    elapsed: timedelta
    #: Pods that found a node at once, how long each of the others had to wait (seconds), and those that still do.
    placed_at_once: int
    waits: tuple[float, ...]
    still_waiting: int
    #: Ready nodes at the start, at the peak, and at the end.
    first_nodes: int
    peak_nodes: int
    last_nodes: int
    bills: tuple[Bill, ...]
    #: What all machines cost for an hour when that was most.
    peak_rate: float
    tallies: tuple[Tally, ...]
    evictions: int
    troubles: tuple[Trouble, ...]

    @property
    def hours(self) -> float:
        """Node-hours of all groups."""
        return sum(bill.hours for bill in self.bills)

    @property
    def cost(self) -> float:
        """Cost of all groups."""
        return sum(bill.cost for bill in self.bills)

    @property
    def static_cost(self) -> float:
        """What it would have cost to keep the machines of the most expensive moment all the time."""
        return self.peak_rate * self.elapsed.total_seconds() / 3600

    @property
    def saved(self) -> float:
        """The share of the static cost that was not spent."""
        return 1 - self.cost / self.static_cost if self.static_cost else 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of *values* that at least *share* of them do not exceed; they must not be empty."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]
