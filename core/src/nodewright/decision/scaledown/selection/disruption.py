"""Disruption: what it costs a node's pods that the node goes."""

from collections.abc import Iterable

from nodewright.cluster import PodClass, PodRow
from nodewright.objects import Pod
from nodewright.objects.pod import DELETION_COST

#: The cost of moving an ordinary pod, or of removing a node. Costs are whole numbers, so that sums are exact.
ORDINARY = 2**27
_MOST = 10 * ORDINARY
#: Each such amount of priority counts as one more ordinary pod.
_PRIORITY = 2**25


def disruption(pods: Iterable[PodRow]) -> int:
    """Return what it costs to remove a node that *pods* have to leave: `ORDINARY` for each, and one for the node.

    A pod counts for more, up to ten times as much, or for less, down to nothing, by its priority and by the annotation
    ``controller.kubernetes.io/pod-deletion-cost``, with which its owner says which pods to lose first.
    """
    return ORDINARY + sum(_class_disruption(row.pod_class) for row in pods)


def disruption_of_all(pods: Iterable[PodRow]) -> int:
    """Return what it would cost to remove a node on which *pods* run, whether or not they could leave it."""
    return disruption(row for row in pods if row.deleted is None and not _goes_with_its_node(row.pod_class.pod))


def pod_disruption(pod: Pod) -> int:
    """Return what it costs to move *pod*."""
    cost = ORDINARY + _deletion_cost(pod) + (pod.spec.priority or 0) * ORDINARY // _PRIORITY
    return min(max(cost, 0), _MOST)


def _class_disruption(pod_class: PodClass) -> int:
    cost: int | None = pod_class.memo.get("disruption")
    if cost is None:
        cost = pod_class.memo["disruption"] = pod_disruption(pod_class.pod)
    return cost


def _goes_with_its_node(pod: Pod) -> bool:
    return pod.is_daemon or pod.is_mirror


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(DELETION_COST, "0"))
    except ValueError:
        # The API server does not validate it, and controllers that delete pods take it for 0, too.
        return 0
