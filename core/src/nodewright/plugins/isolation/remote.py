"""What the plugin's process has in place of things that stay in Nodewright's: each call of them is a callback."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Event
from typing import Any

from nodewright.api import (
    GroupFacts,
    NodeTemplate,
    PlacementRule,
    Pod,
    PodSet,
    PricingModel,
    Resources,
    Simulation,
    Verdict,
)
from nodewright.plugins.isolation.values import Handle

#: Calls a method of what the handle with a number stands for.
Back = Callable[..., Any]


def remote(handle: Handle, back: Back) -> object:
    """Return what stands for the thing of *handle*."""
    if handle.interface == "simulation":
        return RemoteSimulation(handle.number, back)
    if handle.interface == "pricing":
        return RemotePricing(handle.number, handle.currency, back)
    if handle.interface == "clock":
        return RemoteClock(handle.number, back)
    number = handle.number
    return lambda *arguments: back(number, "__call__", *arguments)


class RemoteSimulation:
    """Implements `nodewright.api.Simulation`."""

    def __init__(self, number: int, back: Back) -> None:
        self._number = number
        self._back = back

    @contextmanager
    def fork(self) -> Iterator[Simulation]:
        """Work on a copy within a ``with`` block."""
        inner = self._back(self._number, "fork")
        try:
            yield inner
        finally:
            with contextlib.suppress(EOFError):
                self._back(inner._number, "end")

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """Add empty nodes."""
        names: Sequence[str] = self._back(self._number, "add_nodes", group, count)
        return names

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """Put as many pods as fit onto nodes."""
        placed: Mapping[str, str] = self._back(self._number, "place", pods, on)
        return placed

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """Why a pod does not fit."""
        verdict: Verdict | None = self._back(self._number, "why_not", pods, node)
        return verdict

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """What pods require of other pods."""
        rules: Sequence[PlacementRule] = self._back(self._number, "rules", pods)
        return rules

    def free(self, node: str) -> Resources:
        """What is still free."""
        free: Resources = self._back(self._number, "free", node)
        return free


class RemotePricing(PricingModel):
    """A pricing model of Nodewright's process."""

    def __init__(self, number: int, currency: str, back: Back) -> None:
        self.currency = currency
        self._number = number
        self._back = back

    def node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        """Return the price of a node."""
        price: float | None = self._back(self._number, "node_price", template, start, end)
        return price

    def pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        """Return the price of a pod."""
        price: float | None = self._back(self._number, "pod_price", pod, start, end)
        return price


class RemoteClock:
    """Implements `nodewright.api.Clock` where time is simulated. An event that is set meanwhile ends no wait."""

    def __init__(self, number: int, back: Back) -> None:
        self._number = number
        self._back = back

    def now(self) -> datetime:
        """Return the current time."""
        now: datetime = self._back(self._number, "now")
        return now

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *timeout* seconds of the clock have passed, unless *event* is set already."""
        if not event.is_set():
            self._back(self._number, "wait", timeout)
        return event.is_set()
