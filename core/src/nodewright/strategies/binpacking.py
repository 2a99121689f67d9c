"""Estimator ``binpacking``: first fit, biggest pods first, and other ways where these leave room."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation
from nodewright.strategies.packing import Order, Packing, count_by_pod

#: Nodes are filled in blocks, of as many nodes as it takes to have no more steps: one for each set and each block.
_MOST_STEPS = 200
#: That takes longest. It is not done to save less than one node of so many.
_ONE_OF = 50


class Binpacking(Estimator):
    """Places pods on new nodes in several ways, and takes the best: most pods, then fewest nodes.

    The first way is first fit, biggest pods first. Where no other can be better, it is the only one.
    """

    by_template: ClassVar[bool] = True

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods, in an order in which they fit."""
        packing = Packing(group, simulation, limit)
        first = best = packing.growing(sorted(pods, key=lambda same: _size(group, same), reverse=True))
        if _is_best(best, packing, pods):
            return best
        order = sorted(pods, key=lambda same: (not _wants_company(same), -len(same) / packing.most_on_one(same)))
        for ways, spare in ((_in_order, 0), (_in_blocks, best.nodes // _ONE_OF)):
            for way in ways(packing, order, first):
                if _is_best(best, packing, pods, spare):
                    return best
                found = way()
                if _worth(found) > _worth(best) and _helps_as_many_of_each(found, best):
                    best = found
        return best


def _in_order(packing: Packing, order: Order, first: Estimate) -> Iterator[Callable[[], Estimate]]:
    """Yield ways that keep equal pods together, where all in need of company or of most nodes come first.

    Pods that must be together need a node that is empty, and those that need most nodes decide how many there are.
    """
    yield lambda: packing.growing(order)
    yield lambda: packing.on_nodes(packing.least(first.pods), order)
    yield lambda: packing.on_nodes(first.nodes, order)


def _in_blocks(packing: Packing, order: Order, first: Estimate) -> Iterator[Callable[[], Estimate]]:
    """Yield ways that fill one block of nodes after the other."""
    block = -(-packing.least(first.pods) * len(order) // _MOST_STEPS)
    yield lambda: packing.in_blocks(block, order, even=False)
    yield lambda: packing.in_blocks(block, order, even=True)


def _wants_company(pods: PodSet) -> bool:
    affinity = pods.pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


def _is_best(estimate: Estimate, packing: Packing, pods: Sequence[PodSet], spare: int = 0) -> bool:
    """Tell whether no other order can help more pods, or do with fewer nodes by more than *spare*."""
    helped = count_by_pod(estimate.pods)
    waiting = [(same, count) for same in pods if (count := helped.get(id(same.pod), 0)) < len(same)]
    # As many nodes as pods are enough to tell whether one more could be helped.
    return packing.needs(estimate.nodes - spare, estimate.pods) and all(
        count >= packing.alone(same, count + 1) for same, count in waiting
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
