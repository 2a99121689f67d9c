"""Estimator ``binpacking``: first fit, biggest pods first."""

from collections.abc import Sequence
from typing import ClassVar

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation


class Binpacking(Estimator):
    """Places pods on new nodes in order of size, and adds a node whenever the next pod finds no room."""

    by_template: ClassVar[bool] = True

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods."""
        packing = _Packing(group, simulation, limit)
        helped = []
        for same in sorted(pods, key=lambda same: _size(group, same), reverse=True):
            placed = packing.place(same)
            if placed:
                helped.append(PodSet(pod=same.pod, keys=tuple(placed)))
        return Estimate(nodes=len(packing.used), pods=tuple(helped))


class _Packing:
    """New nodes of one group, as they fill."""

    def __init__(self, group: GroupFacts, simulation: Simulation, limit: int) -> None:
        self._group = group
        self._simulation = simulation
        self._limit = limit
        self._nodes: list[str] = []
        #: Those that got a pod.
        self.used: set[str] = set()

    def place(self, pods: PodSet) -> list[str]:
        """Place *pods*, adding nodes as long as that helps; return those that found room."""
        placed: list[str] = []
        rest: PodSet | None = pods
        fresh: Sequence[str] = self._nodes
        each = _most_on_one(self._group, pods)
        while rest is not None:
            here = self._simulation.place(rest, on=fresh) if fresh else {}
            placed += here
            self.used.update(here.values())
            if here:
                rest = rest.without(here)
                # Equal pods fill equal nodes alike: what some held tells how many more it takes.
                each = max(1, len(here) // len(set(here.values()))) if fresh is not self._nodes else each
            # What does not fit while a node is empty fits on no further one.
            if rest is None or len(self.used) < len(self._nodes) or len(self._nodes) >= self._limit:
                break
            fresh = self._simulation.add_nodes(self._group, min(-(-len(rest) // each), self._limit - len(self._nodes)))
            self._nodes = [*self._nodes, *fresh]
        return placed


def _most_on_one(group: GroupFacts, pods: PodSet) -> int:
    """Return how many of *pods* a node of *group* holds at most."""
    allocatable = group.template.allocatable if group.template else {}
    requests = pods.pod.requests
    return max(1, min(allocatable.get(name, 0) // amount for name, amount in requests.items() if amount))


def _size(group: GroupFacts, pods: PodSet) -> float:
    """How much of a node one pod takes: cpu and memory as shares of what a node has, added up."""
    allocatable = group.template.allocatable if group.template else {}
    requests = pods.pod.requests
    return sum(
        requests.get(resource, 0) / allocatable[resource] for resource in ("cpu", "memory") if allocatable.get(resource)
    )
