"""A copy of the cluster in which pods can be placed and nodes added."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, NodeClass, PodClass
from nodewright.cluster.columns import Amounts
from nodewright.scheduling import (
    node_affinity,
    node_resources_fit,
    node_unschedulable,
    taint_toleration,
)
from nodewright.scheduling.templates import Blank, blank_node

#: Filters that depend on the kinds of pod and node only, in kube-scheduler's order: the first refusal is reported.
_STATIC_FILTERS = (node_unschedulable.check, taint_toleration.check, node_affinity.check)


class ClusterSimulation:
    """Implements `nodewright.api.Simulation`. For the loop's thread only; the cluster itself is never changed."""

    def __init__(self, cluster: Cluster, nodes: Sequence[str]) -> None:
        self._cluster = cluster
        self._names = list(nodes)
        self._classes = [cluster.class_of(name) for name in nodes]
        self._free = cluster.free(self._names)
        self._static: dict[tuple[int, int], Verdict | None] = {}
        self._added = 0
        self._kept = False
        self._guests: list[tuple[str, PodSet]] = []

    @property
    def size(self) -> int:
        """How many nodes there are, added ones included."""
        return len(self._names)

    @contextmanager
    def fork(self) -> Iterator["ClusterSimulation"]:
        """Work on this simulation for the length of a ``with`` block, then forget what happened in it."""
        names, classes, free, added = list(self._names), list(self._classes), self._free.copy(), self._added
        guests = len(self._guests)
        self._kept = False
        try:
            yield self
        finally:
            if not self._kept:
                self._names, self._classes, self._free, self._added = names, classes, free, added
                del self._guests[guests:]
            self._kept = False

    def keep(self) -> None:
        """Make what happened in the innermost fork stay when it ends."""
        self._kept = True

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """Add empty nodes like the group's template, with their DaemonSet pods; see `nodewright.api.Simulation`."""
        blank = blank_node(self._cluster, group)
        names = []
        for _ in range(count):
            self._added += 1
            names.append(f"template-node-for-{group.id}-{self._added}")
        self._append(names, blank)
        return names

    def remove_nodes(self, names: Sequence[str]) -> None:
        """Take nodes out, with whatever was placed on them."""
        gone = set(names)
        keep = [index for index, name in enumerate(self._names) if name not in gone]
        self._names = [self._names[index] for index in keep]
        self._classes = [self._classes[index] for index in keep]
        self._free = self._free[:, keep]

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> dict[str, str]:
        """Put as many of *pods* as fit onto nodes, first fit in node order; see `nodewright.api.Simulation`."""
        pod_class = self._cluster.pod_classes.of(pods.pod)
        requests = self._requests(pod_class)
        rows = self._rows(on)
        counts = np.where(self._allowed(pod_class)[rows], node_resources_fit.room(requests, self._free[:, rows]), 0)
        # First fit of identical pods: fill node by node until none is left.
        before = np.cumsum(counts) - counts
        taken = np.clip(len(pods) - before, 0, counts)
        self._free[:, rows] -= requests[:, None] * taken
        placed = [self._names[row] for row in np.repeat(rows, taken).tolist()]
        nodes = dict(zip(pods.keys, placed, strict=False))
        self._guests.extend((node, PodSet(pod=pods.pod, keys=(key,))) for key, node in nodes.items())
        return nodes

    def guests(self, node: str) -> list[PodSet]:
        """Return the pods that were placed on *node* here, and would have to move if it went."""
        return [pods for name, pods in self._guests if name == node]

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """Return why a pod of *pods* does not fit on *node* now; None if it does."""
        pod_class = self._cluster.pod_classes.of(pods.pod)
        row = self._names.index(node)
        refusal = self._static_verdict(pod_class, self._classes[row], node)
        if refusal is not None:
            return refusal
        requests = self._requests(pod_class)
        return node_resources_fit.check(requests, self._free[:, row], self._cluster.dimensions)

    def _append(self, names: Sequence[str], blank: Blank) -> None:
        column = self._cluster.vector(blank.free)
        self._widen(len(column))
        self._names.extend(names)
        self._classes.extend([blank.node_class] * len(names))
        self._free = np.hstack([self._free, np.repeat(column[:, None], len(names), axis=1)])

    def _requests(self, pod_class: PodClass) -> Amounts:
        requests = self._cluster.vector(pod_class.requests)
        self._widen(len(requests))
        return requests

    def _widen(self, dimensions: int) -> None:
        missing = dimensions - self._free.shape[0]
        if missing > 0:
            self._free = np.vstack([self._free, np.zeros((missing, self._free.shape[1]), dtype=np.int64)])

    def _rows(self, names: Sequence[str] | None) -> npt.NDArray[np.intp]:
        if names is None:
            return np.arange(len(self._names))
        wanted = set(names)
        return np.array([row for row, name in enumerate(self._names) if name in wanted], dtype=np.intp)

    def _allowed(self, pod_class: PodClass) -> npt.NDArray[np.bool_]:
        return np.array(
            [
                self._static_verdict(pod_class, node_class, name) is None
                for node_class, name in zip(self._classes, self._names, strict=True)
            ],
            dtype=np.bool_,
        )

    def _static_verdict(self, pod_class: PodClass, node_class: NodeClass, name: str) -> Verdict | None:
        if pod_class.looks_at_names:
            return _first_refusal(pod_class, node_class, name)
        key = (id(pod_class), id(node_class))
        if key not in self._static:
            self._static[key] = _first_refusal(pod_class, node_class, name)
        return self._static[key]


def _first_refusal(pod_class: PodClass, node_class: NodeClass, name: str) -> Verdict | None:
    for check in _STATIC_FILTERS:
        refusal = check(pod_class, node_class, name)
        if refusal is not None:
            return refusal
    return None
