"""Estimator ``binpacking``: first fit, biggest pods first."""

from collections.abc import Sequence
from typing import ClassVar

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation


class Binpacking(Estimator):
    """Places pods on new nodes in order of size, and adds a node whenever the next pod finds no room."""

    by_template: ClassVar[bool] = True

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods."""
        nodes: list[str] = []
        used: set[str] = set()
        helped = []
        for same in sorted(pods, key=lambda same: _size(group, same), reverse=True):
            placed = _place(group, same, simulation, nodes, limit)
            used.update(placed.values())
            if placed:
                helped.append(PodSet(pod=same.pod, keys=tuple(placed)))
        return Estimate(nodes=len(used), pods=tuple(helped))


def _place(group: GroupFacts, pods: PodSet, simulation: Simulation, nodes: list[str], limit: int) -> dict[str, str]:
    """Place *pods* on *nodes*, to which nodes are added as long as that helps; return the node by pod."""
    placed = dict(simulation.place(pods, on=nodes)) if nodes else {}
    each = 0
    while len(placed) < len(pods) and len(nodes) < limit:
        rest = pods.without(placed)
        assert rest is not None
        # Equal pods fill equal nodes alike: what the first one held tells how many more it takes.
        each = each or _most_on_one(group, pods)
        fresh = simulation.add_nodes(group, min(-(-len(rest) // each), limit - len(nodes)))
        nodes.extend(fresh)
        here = simulation.place(rest, on=fresh)
        if not here:
            break
        placed |= here
        each = max(1, len(here) // len(set(here.values())))
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
