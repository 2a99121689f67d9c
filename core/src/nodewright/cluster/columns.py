"""The cluster as columns, kept up to date object by object."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from nodewright.cluster.node_class import NodeClass, NodeClasses
from nodewright.cluster.pod_class import PodClass, PodClasses
from nodewright.objects import DaemonSet, Node, Pod, PodDisruptionBudget, Resources

Amounts = npt.NDArray[np.int64]


class Cluster:
    """All nodes and pods, with the free room of each node in one integer matrix (resource, row).

    Written and read by the loop's thread only. A malformed quantity raises `ValueError` and changes nothing.
    The same sequence of changes always gives the same rows in the same order.
    """

    def __init__(self) -> None:
        self.pod_classes = PodClasses()
        self.node_classes = NodeClasses()
        self.dimensions: dict[str, int] = {"cpu": 0, "memory": 1, "pods": 2}
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, Pod] = {}
        self.pending: dict[str, Pod] = {}
        self.daemon_sets: dict[str, DaemonSet] = {}
        self.budgets: dict[str, PodDisruptionBudget] = {}
        self._rows: dict[str, int] = {}
        self._vacant: list[int] = []
        self._classes: list[NodeClass | None] = []
        self._free: Amounts = np.zeros((3, 0), dtype=np.int64)
        self._pods_on: dict[str, dict[str, PodClass]] = {}

    def put_node(self, node: Node) -> None:
        """Add or replace a node."""
        name = node.name
        allocatable = node.allocatable
        node_class = self.node_classes.of(node.metadata.labels, node.spec.taints, unschedulable=node.spec.unschedulable)
        row = self._rows.get(name)
        if row is None:
            row = self._rows[name] = self._vacant.pop() if self._vacant else self._new_row()
        self.nodes[name] = node
        self._classes[row] = node_class
        self._free[:, row] = 0
        self._add(row, allocatable, 1)
        for pod_class in self._pods_on.get(name, {}).values():
            self._add(row, pod_class.requests, -1)

    def drop_node(self, name: str) -> None:
        """Remove a node; pods that are bound to it stay known until they are dropped themselves."""
        row = self._rows.pop(name, None)
        if row is not None:
            del self.nodes[name]
            self._classes[row] = None
            self._free[:, row] = 0
            self._vacant.append(row)

    def put_pod(self, pod: Pod) -> None:
        """Add or replace a pod."""
        pod_class = self.pod_classes.of(pod)
        self.drop_pod(pod.key)
        self.pods[pod.key] = pod
        if pod.spec.node_name and not pod.finished:
            self._pods_on.setdefault(pod.spec.node_name, {})[pod.key] = pod_class
            self._charge(pod.spec.node_name, pod_class.requests, -1)
        elif not pod.finished and pod.metadata.deletion_timestamp is None:
            self.pending[pod.key] = pod

    def drop_pod(self, key: str) -> None:
        """Remove a pod."""
        pod = self.pods.pop(key, None)
        if pod is None:
            return
        self.pending.pop(key, None)
        pod_class = self._pods_on.get(pod.spec.node_name, {}).pop(key, None)
        if pod_class is not None:
            self._charge(pod.spec.node_name, pod_class.requests, 1)

    def pods_on(self, node: str) -> Iterator[Pod]:
        """Yield the unfinished pods bound to *node*, in the order they came."""
        return (self.pods[key] for key in self._pods_on.get(node, {}))

    def class_of(self, node: str) -> NodeClass:
        """Return the class of a node."""
        node_class = self._classes[self._rows[node]]
        assert node_class is not None
        return node_class

    def free(self, nodes: list[str]) -> Amounts:
        """Return a copy of the free room of *nodes*, one column each; negative where a node is over-committed."""
        return self._free[:, [self._rows[name] for name in nodes]]

    def used(self, node: str) -> Resources:
        """Return what the unfinished pods of *node* request in all."""
        total: dict[str, int] = {}
        for pod_class in self._pods_on.get(node, {}).values():
            for name, amount in pod_class.requests.items():
                total[name] = total.get(name, 0) + amount
        return total

    def vector(self, amounts: Resources) -> Amounts:
        """Return *amounts* as a column; resources new to the cluster get a dimension, of which no node has any."""
        for name in amounts:
            if name not in self.dimensions:
                self.dimensions[name] = len(self.dimensions)
                self._free = np.vstack([self._free, np.zeros((1, self._free.shape[1]), dtype=np.int64)])
        column = np.zeros(len(self.dimensions), dtype=np.int64)
        for name, amount in amounts.items():
            column[self.dimensions[name]] = amount
        return column

    def _charge(self, node: str, amounts: Resources, sign: int) -> None:
        row = self._rows.get(node)
        if row is not None:
            self._add(row, amounts, sign)

    def _add(self, row: int, amounts: Resources, sign: int) -> None:
        column = self.vector(amounts)
        self._free[:, row] += sign * column

    def _new_row(self) -> int:
        row = len(self._classes)
        self._classes.append(None)
        if row >= self._free.shape[1]:
            room = np.zeros((len(self.dimensions), max(16, row)), dtype=np.int64)
            self._free = np.hstack([self._free, room])
        return row
