"""Estimator ``binpacking``: first fit, biggest pods first, and other ways where these leave room."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation
from nodewright.strategies.least_nodes import least_nodes
from nodewright.strategies.packing import Packing, count_by_pod

#: Nodes are filled in blocks, of as many nodes as it takes to have no more steps: one for each set and each block.
_MOST_STEPS = 200


class Binpacking(Estimator):
    """Places pods on new nodes in several ways, and takes the best: most pods, then fewest nodes.

    The first way is first fit, biggest pods first. Where no other can be better, it is the only one.
    """

    by_template: ClassVar[bool] = True

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods, in an order in which they fit."""
        packing = Packing(group, simulation, limit)
        first = best = packing.growing(sorted(pods, key=lambda same: _size(group, same), reverse=True))
        if sum(map(len, best.pods)) == sum(map(len, pods)) and best.nodes <= least_nodes(pods, packing.room):
            return best
        for way in _ways(packing, pods, first):
            if _is_best(best, packing, pods):
                break
            found = way()
            if _worth(found) > _worth(best) and _helps_as_many_of_each(found, best):
                best = found
        return best


def _ways(packing: Packing, pods: Sequence[PodSet], first: Estimate) -> Iterator[Callable[[], Estimate]]:
    """Yield other ways to pack; those that keep equal pods together come first."""
    # Pods that must be together need a node that is empty, and those that need most nodes decide how many there are.
    order = sorted(pods, key=lambda same: (not _wants_company(same), -len(same) / packing.most_on_one(same)))
    yield lambda: packing.growing(order)
    least = packing.least(first.pods)
    yield lambda: packing.on_nodes(least, order)
    yield lambda: packing.on_nodes(first.nodes, order)
    block = -(-least * len(order) // _MOST_STEPS)
    yield lambda: packing.in_blocks(block, order, even=False)
    yield lambda: packing.in_blocks(block, order, even=True)


def _wants_company(pods: PodSet) -> bool:
    affinity = pods.pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


def _is_best(estimate: Estimate, packing: Packing, pods: Sequence[PodSet]) -> bool:
    """Tell whether no other order can do better."""
    helped = count_by_pod(estimate.pods)
    waiting = [(same, count) for same in pods if (count := helped.get(id(same.pod), 0)) < len(same)]
    return estimate.nodes <= packing.least(estimate.pods) and all(
        count >= packing.alone(same, len(same)) for same, count in waiting
    )


def _helps_as_many_of_each(estimate: Estimate, other: Estimate) -> bool:
    """Tell whether no set of pods pays for what *estimate* has over the *other* one."""
    helped = count_by_pod(estimate.pods)
    return all(helped.get(pod, 0) >= count for pod, count in count_by_pod(other.pods).items())


def _worth(estimate: Estimate) -> tuple[int, int]:
    return sum(map(len, estimate.pods)), -estimate.nodes


def _size(group: GroupFacts, pods: PodSet) -> float:
    """How much of a node one pod takes: cpu and memory as shares of what a node has, added up."""
    allocatable = group.template.allocatable if group.template else {}
    requests = pods.pod.requests
    return sum(
        requests.get(resource, 0) / allocatable[resource] for resource in ("cpu", "memory") if allocatable.get(resource)
    )
