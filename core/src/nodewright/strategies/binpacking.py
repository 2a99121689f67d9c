"""Estimator ``binpacking``: first fit, biggest pods first, and other ways where these leave room."""

from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from nodewright.api import Estimate, Estimator, GroupFacts, PodSet, Simulation
from nodewright.strategies.least_nodes import least_nodes
from nodewright.strategies.packing import Packing, count_by_pod, mind_each_other, share_of_node

#: Nodes are filled one by one only if that takes at most so many steps, of a set of pods and a node each.
_MOST_STEPS = 200
#: The search for fewer nodes ends where less than one in so many could be saved.
_NEAR = 50


class Binpacking(Estimator):
    """Places pods on new nodes in several ways, and takes the best: most pods, then fewest nodes.

    The first way is first fit, biggest pods first. Where no other can be better, it is the only one.
    """

    by_template: ClassVar[bool] = True

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the nodes that got a pod, and those pods, in an order in which they fit."""
        packing = Packing(group, simulation, limit)
        largest_first = sorted(pods, key=lambda same: share_of_node(group, same), reverse=True)
        first = best = packing.growing(largest_first)
        if _is_best(best, packing, pods):
            return best
        for way in _ways(packing, largest_first, first):
            found = way()
            if _worth(found) > _worth(best) and _helps_as_many_of_each(found, best):
                best = found
                if _is_best(best, packing, pods):
                    break
        return best


def _ways(packing: Packing, largest_first: Sequence[PodSet], first: Estimate) -> Iterator[Callable[[], Estimate]]:
    """Yield other ways to pack; those that keep equal pods together come first."""
    # Pods that must be together need a node that is empty, and those that need most nodes decide how many there are.
    order = sorted(largest_first, key=lambda same: (not _wants_company(same), -len(same) / packing.most_on_one(same)))
    least = packing.least(first.pods)
    yield lambda: packing.growing(order)
    yield lambda: packing.on_nodes(least, order)
    if mind_each_other(order):
        yield lambda: packing.evenly(least, largest_first)
        yield lambda: packing.evenly(least, order)
    yield lambda: packing.on_nodes(first.nodes, order)
    if least * len(order) <= _MOST_STEPS:
        yield lambda: packing.node_by_node(order, even=False)
        yield lambda: packing.node_by_node(order, even=True)


def _wants_company(pods: PodSet) -> bool:
    affinity = pods.pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


def _is_best(estimate: Estimate, packing: Packing, pods: Sequence[PodSet]) -> bool:
    """Tell whether no other order can do better, or not by much."""
    # The first bound costs nothing.
    if not _is_near(estimate.nodes, least_nodes(estimate.pods, packing.room)) and not _is_near(
        estimate.nodes, packing.least(estimate.pods)
    ):
        return False
    helped = count_by_pod(estimate.pods)
    waiting = [same for same in pods if helped.get(id(same.pod), 0) < len(same)]
    if not waiting:
        return True
    had = [helped.get(id(same.pod), 0) for same in waiting]
    # One node for each of them, and one more: that is enough to see whether one more could be helped.
    most = packing.alone(waiting, [count + 1 for count in had])
    return all(count >= possible for count, possible in zip(had, most, strict=True))


def _is_near(nodes: int, bound: int) -> bool:
    """Tell whether *nodes* are hardly more than the *bound*, which is seldom reached: a search would gain little."""
    return nodes <= bound + bound // _NEAR


def _helps_as_many_of_each(estimate: Estimate, other: Estimate) -> bool:
    """Tell whether no set of pods pays for what *estimate* has over the *other* one."""
    helped = count_by_pod(estimate.pods)
    return all(helped.get(pod, 0) >= count for pod, count in count_by_pod(other.pods).items())


def _worth(estimate: Estimate) -> tuple[int, int]:
    return sum(map(len, estimate.pods)), -estimate.nodes
