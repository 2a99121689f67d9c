"""Disruption: what it costs those who work on a node that it goes."""

from collections.abc import Iterable

from nodewright.cluster import PodRow
from nodewright.objects import Pod

#: What it costs to move an ordinary pod, or to remove a node. Whole numbers, so that sums are exact.
ORDINARY = 2**27
_MOST = 10 * ORDINARY
#: An ordinary pod more for each so much of priority.
_PRIORITY = 2**25
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def disruption(pods: Iterable[PodRow]) -> int:
    """Return what it costs to remove a node that *pods* have to leave: `ORDINARY` for each, and one for the node.

    A pod counts for more, up to ten times as much, or for less, down to nothing, by its priority and by the annotation
    ``controller.kubernetes.io/pod-deletion-cost``, in which its owner says which pods to lose first.
    """
    return ORDINARY + sum(pod_disruption(row.pod_class.pod) for row in pods)


def pod_disruption(pod: Pod) -> int:
    """Return what it costs to move *pod*."""
    cost = ORDINARY + _deletion_cost(pod) + (pod.spec.priority or 0) * ORDINARY // _PRIORITY
    return min(max(cost, 0), _MOST)


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(_DELETION_COST, "0"))
    except ValueError:
        return 0
