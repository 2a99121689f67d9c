"""Waiting pods, grouped into sorts as they come and go: collecting them costs as much as there are sorts, not pods."""

from datetime import datetime
from itertools import count
from typing import NamedTuple

from nodewright.cluster.pod_class import PodClass
from nodewright.cluster.pod_row import PodRow
from nodewright.objects.pod import Scheduling


class PodSort(NamedTuple):
    """Waiting pods of one controller that no scheduler and no rule can distinguish."""

    #: Uid of their controller; of a bare pod, its own.
    owner: str
    pod_class: PodClass
    #: What their scheduler has said about them so far.
    scheduling: Scheduling


class Waiting:
    """All pods without a node. Written by `Cluster` only."""

    def __init__(self) -> None:
        #: For each sort, the turn of each pod by key. Turns count up over all sorts: a lower turn came earlier.
        self.sorts: dict[PodSort, dict[str, int]] = {}
        #: Pods that have a node already, from which other pods are being evicted for them.
        self.nominated: dict[str, PodRow] = {}
        #: No waiting pod was created later. None if this is unknown.
        self.newest: datetime | None = None
        self._turns = count()

    def put(self, pod: PodRow) -> None:
        """Add a pod that is not among them."""
        if pod.created is not None and (self.newest is None or pod.created > self.newest):
            self.newest = pod.created
        if _is_nominated(pod):
            self.nominated[pod.key] = pod
        else:
            self.sorts.setdefault(sort_of(pod), {})[pod.key] = next(self._turns)

    def replace(self, was: PodRow, pod: PodRow) -> None:
        """Replace *was* by *pod*, which keeps the turn unless it is of another sort now."""
        if _is_nominated(was) or _is_nominated(pod) or sort_of(was) != sort_of(pod):
            self.drop(was)
            self.put(pod)

    def drop(self, pod: PodRow) -> None:
        """Remove a pod that is among them."""
        if self.nominated.pop(pod.key, None) is not None:
            return
        sort = sort_of(pod)
        turns = self.sorts[sort]
        del turns[pod.key]
        if not turns:
            del self.sorts[sort]


def sort_of(pod: PodRow) -> PodSort:
    """Return the sort of a pod."""
    owner = pod.owner.uid if pod.owner else pod.uid or pod.key
    return PodSort(owner, pod.pod_class, (pod.pending or pod.pod_class.pod).scheduling)


def _is_nominated(pod: PodRow) -> bool:
    return pod.pending is not None and bool(pod.pending.status.nominated_node_name)
