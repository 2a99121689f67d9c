"""What it costs to disturb pods: the common measure by which ways to take nodes away are compared."""

from collections.abc import Iterable

from nodewright.cluster import PodClass, PodRow
from nodewright.objects import Pod
from nodewright.objects.pod import DELETION_COST

#: What an ordinary pod costs, and a node by itself.
_ORDINARY = 1.0
_MOST = 10.0
#: One more for each so much of a pod's priority, and of its deletion cost.
_PRIORITY = 2**25
_DELETION_COST = 2**27


def pod_cost(pod: Pod) -> float:
    """Return what it costs to move *pod*: 1, moved by its priority and its deletion cost, but from 0 to 10."""
    cost = _ORDINARY + (pod.spec.priority or 0) / _PRIORITY + _deletion_cost(pod) / _DELETION_COST
    return min(_MOST, max(0.0, cost))


def disruption_cost(pods: Iterable[PodRow]) -> float:
    """Return what it costs to take a node away that *pods* have to leave."""
    return _ORDINARY + sum(_class_cost(row.pod_class) for row in pods)


def total_disruption_cost(pods: Iterable[PodRow]) -> float:
    """Return what it would cost to take a node away on which *pods* run, whether or not they could leave it."""
    return disruption_cost(row for row in pods if row.deleted is None and _class_moves(row.pod_class))


def _class_cost(pod_class: PodClass) -> float:
    cost: float | None = pod_class.memo.get("disruption cost")
    if cost is None:
        cost = pod_class.memo["disruption cost"] = pod_cost(pod_class.pod)
    return cost


def _class_moves(pod_class: PodClass) -> bool:
    return not (pod_class.pod.is_daemon or pod_class.pod.is_mirror)


def _deletion_cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.get(DELETION_COST, "0"))
    except ValueError:
        # The API server does not look at it, and whoever deletes pods takes it for 0, too.
        return 0
