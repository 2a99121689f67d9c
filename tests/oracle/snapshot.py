"""The cluster as the oracle sees it: nodes with their pods, and the objects that filters look up."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Self

from nodewright.objects import CSINode, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from nodewright.objects.volume import Volume

_CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Which filter kept a pod off a node, and why in kube-scheduler's words."""

    filter: str
    reasons: tuple[str, ...]


@dataclass(kw_only=True)
class NodeInfo:
    """A node and the pods on it."""

    node: Node
    pods: list[Pod] = field(default_factory=list)
    #: What the pods take together.
    used: Counter[str] = field(default_factory=Counter)

    @property
    def labels(self) -> Mapping[str, str]:
        return self.node.metadata.labels

    def add(self, pod: Pod) -> None:
        self.pods.append(pod)
        self.used.update(pod.requests)


class Snapshot:
    """Everything that filters may look at. Pods that have ended, or whose node is unknown, are not in it."""

    def __init__(
        self,
        nodes: Iterable[Node],
        pods: Iterable[Pod],
        claims: Iterable[PersistentVolumeClaim],
        volumes: Iterable[PersistentVolume],
        storage_classes: Iterable[StorageClass],
        csi_nodes: Iterable[CSINode],
        namespaces: Iterable[Namespace],
    ) -> None:
        self.nodes = {node.name: NodeInfo(node=node) for node in nodes}
        self.claims = {claim.metadata.key: claim for claim in claims}
        self.volumes = {volume.metadata.name: volume for volume in volumes}
        self.storage_classes = {each.metadata.name: each for each in storage_classes}
        self.csi_nodes = {each.metadata.name: each for each in csi_nodes}
        self.namespaces = {each.metadata.name: each for each in namespaces}
        for pod in pods:
            if pod.spec.node_name in self.nodes and not pod.finished:
                self.nodes[pod.spec.node_name].add(pod)

    def copy(self) -> Self:
        """A snapshot that changes apart from this one."""
        twin = copy(self)
        for name in ("claims", "volumes", "csi_nodes"):
            setattr(twin, name, dict(getattr(self, name)))
        twin.nodes = {
            name: NodeInfo(node=info.node, pods=list(info.pods), used=Counter(info.used))
            for name, info in self.nodes.items()
        }
        return twin

    def residents(self) -> Iterator[tuple[Pod, NodeInfo]]:
        """Every pod that is on a node, with that node."""
        for info in self.nodes.values():
            for pod in info.pods:
                yield pod, info

    def claim_of(self, pod: Pod, volume: Volume) -> PersistentVolumeClaim | None:
        """The claim behind *volume*, if it has one and the claim exists."""
        name = claim_name(pod, volume)
        return None if name is None else self.claims.get(f"{pod.metadata.namespace}/{name}")

    def storage_class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """The class of *claim*, if it names one that exists."""
        return self.storage_classes.get(class_name(claim))

    def labels_of_namespace(self, name: str) -> Mapping[str, str]:
        namespace = self.namespaces.get(name)
        return namespace.metadata.labels if namespace else {}


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The name of the claim that *volume* refers to; that of an ephemeral volume is made of pod and volume."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    if volume.ephemeral is not None:
        return f"{pod.metadata.name}-{volume.name}"
    return None


def class_name(wants: PersistentVolumeClaim | PersistentVolume) -> str:
    """The storage class that a claim or a volume names; an old annotation goes before the field."""
    return wants.metadata.annotations.get(_CLASS_ANNOTATION) or wants.spec.storage_class_name or ""
