"""The oracle: where may a pod go, and what does a placement break?"""

from collections.abc import Iterable, Sequence
from typing import Self

from msgspec.structs import replace
from nodewright.objects import (
    CSINode,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    Taint,
)
from nodewright.objects.node import TO_BE_DELETED

from .filters import CHECKS, PRECHECKS
from .filters.inter_pod_affinity import means, repelling
from .filters.volume_binding import assume
from .snapshot import NodeInfo, Refusal, Snapshot
from .violations import violations_of


class Oracle:
    """A cluster that answers as kube-scheduler would, one pod and one node at a time."""

    def __init__(
        self,
        nodes: Iterable[Node],
        pods: Iterable[Pod] = (),
        *,
        claims: Iterable[PersistentVolumeClaim] = (),
        volumes: Iterable[PersistentVolume] = (),
        storage_classes: Iterable[StorageClass] = (),
        csi_nodes: Iterable[CSINode] = (),
        namespaces: Iterable[Namespace] = (),
    ) -> None:
        self._snapshot = Snapshot(nodes, pods, claims, volumes, storage_classes, csi_nodes, namespaces)
        self._newcomers: list[tuple[Pod, str]] = []

    def refusal(self, pod: Pod, node_name: str) -> Refusal | None:
        """What keeps *pod* off the node now; None if nothing does."""
        info = self._snapshot.nodes[node_name]
        for name, precheck in PRECHECKS.items():
            if reasons := precheck(self._snapshot, pod):
                return Refusal(filter=name, reasons=reasons)
        for name, check in CHECKS.items():
            if reasons := check(self._snapshot, pod, info):
                return Refusal(filter=name, reasons=reasons)
        return None

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes that are there."""
        return tuple(self._snapshot.nodes)

    def add(self, node: Node, pods: Iterable[Pod], csi_node: CSINode) -> None:
        """Add a node with *pods* on it."""
        info = self._snapshot.nodes[node.name] = NodeInfo(node=node)
        self._snapshot.csi_nodes[node.name] = csi_node
        for pod in pods:
            info.add(pod)

    def take_out(self, node_name: str) -> None:
        """Take a node out, with all that runs on it."""
        del self._snapshot.nodes[node_name]
        self._snapshot.csi_nodes.pop(node_name, None)

    def vacate(self, node_name: str) -> None:
        """Take away all that runs on a node, and mark the node for deletion."""
        node = self._snapshot.nodes[node_name].node
        doom = Taint(key=TO_BE_DELETED, effect="NoSchedule")
        marked = replace(node, spec=replace(node.spec, taints=(*node.spec.taints, doom)))
        self._snapshot.nodes[node_name] = NodeInfo(node=marked)

    def pods_on(self, node_name: str) -> Sequence[Pod]:
        """What runs on a node."""
        return self._snapshot.nodes[node_name].pods

    def free(self, node_name: str, resource: str) -> int:
        """What a node has left of a resource."""
        info = self._snapshot.nodes[node_name]
        return info.node.allocatable.get(resource, 0) - info.used[resource]

    def dislikes(self, owner: Pod, pod: Pod) -> bool:
        """Whether *owner* does not want *pod* near."""
        return any(means(self._snapshot, owner, term, pod) for term in repelling(owner))

    def copy(self) -> Self:
        """An oracle that can be asked about what does not happen to this one."""
        twin = object.__new__(type(self))
        twin._snapshot, twin._newcomers = self._snapshot.copy(), list(self._newcomers)
        return twin

    def bind(self, pod: Pod, node_name: str) -> None:
        """Put *pod* on the node, whether it may go there or not."""
        info = self._snapshot.nodes[node_name]
        assume(self._snapshot, pod, info)
        info.add(pod)
        self._newcomers.append((pod, node_name))

    def place(self, pods: Iterable[Pod]) -> dict[str, str]:
        """Bind each of *pods*, in their order, to the first node that takes it; return the node by pod key."""
        placed = {}
        for pod in pods:
            node = next((name for name in self._snapshot.nodes if self.refusal(pod, name) is None), None)
            if node is not None:
                self.bind(pod, node)
                placed[pod.key] = node
        return placed

    def violations(self) -> list[str]:
        """Which hard rules the pods bound here break in the end, one sentence each.

        Only rules that still hold after any sequence of legal placements: affinity and spread may look broken
        later without ever having been.
        """
        return violations_of(self._snapshot, self._newcomers)
