"""Volumes of pods, and the claims, volumes and classes behind them."""

from typing import Any

from msgspec import field

from nodewright.objects.frozen import EMPTY, freeze, freeze_nested
from nodewright.objects.meta import KubeStruct, ObjectMeta
from nodewright.objects.quantity import parse_quantity
from nodewright.objects.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement

Quantities = dict[str, str | int | float]

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_SELECTED_NODE = "volume.kubernetes.io/selected-node"
_STORAGE_CLASS = "volume.beta.kubernetes.io/storage-class"
#: Annotations of claims and volumes that decisions read.
TELLING_ANNOTATIONS = frozenset([_BIND_COMPLETED, _SELECTED_NODE, _STORAGE_CLASS])


class ClaimSource(KubeStruct, frozen=True, kw_only=True):
    """A pod's reference to a claim."""

    claim_name: str = ""
    read_only: bool = False


class EmptyDir(KubeStruct, frozen=True, kw_only=True):
    """A directory on the node or in its memory that exists as long as the pod."""

    medium: str = ""


class Volume(KubeStruct, frozen=True, kw_only=True):
    """A volume of a pod: the fields that placement and removal depend on."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    #: The claim is created with the pod, and named ``<pod>-<volume>``.
    ephemeral: dict[str, Any] | None = None
    empty_dir: EmptyDir | None = None
    host_path: dict[str, Any] | None = None
    csi: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    aws_elastic_block_store: dict[str, Any] | None = field(default=None, name="awsElasticBlockStore")
    iscsi: dict[str, Any] | None = None
    rbd: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        freeze_nested(self, "ephemeral", "host_path", "csi", "iscsi", "rbd")
        freeze_nested(self, "gce_persistent_disk", "aws_elastic_block_store")

    @property
    def names_disk(self) -> bool:
        """Whether the volume itself names a disk, which pods of a node may have to share."""
        return bool(self.gce_persistent_disk or self.aws_elastic_block_store or self.iscsi or self.rbd)


class ClaimResources(KubeStruct, frozen=True, kw_only=True):
    """The resources that a claim requests."""

    requests: Quantities = EMPTY

    def __post_init__(self) -> None:
        freeze(self, "requests")


class ClaimSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a claim."""

    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] = ()
    resources: ClaimResources = ClaimResources()
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str = ""
    selector: LabelSelector | None = None


class ClaimStatus(KubeStruct, frozen=True, kw_only=True):
    """The state of a claim."""

    phase: str = "Pending"


class PersistentVolumeClaim(KubeStruct, frozen=True, kw_only=True):
    """A claim for a volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def bound(self) -> bool:
        """Whether the claim is bound to a volume, and the volume to the claim."""
        return bool(self.spec.volume_name) and _BIND_COMPLETED in self.metadata.annotations

    @property
    def class_name(self) -> str:
        """Name of its storage class, empty without one."""
        return self.metadata.annotations.get(_STORAGE_CLASS, self.spec.storage_class_name or "")

    @property
    def selected_node(self) -> str:
        """The node that the scheduler chose for the volume; empty if it chose none."""
        return self.metadata.annotations.get(_SELECTED_NODE, "")

    @property
    def size(self) -> int:
        """How many bytes the claim requests. Raises `ValueError` if the quantity is malformed."""
        return _bytes(self.spec.resources.requests)

    def made_for(self, pod: ObjectMeta) -> bool:
        """Return whether the claim was created with *pod*, for an ephemeral volume."""
        owner = self.metadata.controller
        return owner is not None and owner.uid == pod.uid


class VolumeNodeAffinity(KubeStruct, frozen=True, kw_only=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class ClaimReference(KubeStruct, frozen=True, kw_only=True):
    """The claim that a volume belongs to."""

    namespace: str = ""
    name: str = ""
    uid: str = ""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class CsiSource(KubeStruct, frozen=True, kw_only=True):
    """The driver behind a volume."""

    driver: str = ""
    volume_handle: str = ""


class VolumeSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a persistent volume."""

    capacity: Quantities = EMPTY
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"
    volume_attributes_class_name: str = ""
    node_affinity: VolumeNodeAffinity | None = None
    claim_ref: ClaimReference | None = None
    csi: CsiSource | None = None

    def __post_init__(self) -> None:
        freeze(self, "capacity")


class VolumeStatus(KubeStruct, frozen=True, kw_only=True):
    """The state of a persistent volume."""

    phase: str = ""


class PersistentVolume(KubeStruct, frozen=True, kw_only=True):
    """A volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()

    @property
    def class_name(self) -> str:
        """Name of its storage class, empty without one."""
        return self.metadata.annotations.get(_STORAGE_CLASS, self.spec.storage_class_name)

    @property
    def size(self) -> int:
        """How many bytes the volume has. Raises `ValueError` if the quantity is malformed."""
        return _bytes(self.spec.capacity)

    @property
    def node_terms(self) -> tuple[NodeSelectorTerm, ...] | None:
        """The nodes from which the volume can be reached, as alternatives; None for all nodes."""
        affinity = self.spec.node_affinity
        return affinity.required.node_selector_terms if affinity and affinity.required else None


class TopologyTerm(KubeStruct, frozen=True, kw_only=True):
    """Where volumes of a class can be created."""

    match_label_expressions: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        freeze_nested(self, "match_label_expressions")

    def as_node_selector_term(self) -> NodeSelectorTerm:
        """The same as a term over node labels."""
        lines = tuple(
            Requirement(key=line["key"], operator="In", values=tuple(line.get("values") or ()))
            for line in self.match_label_expressions
        )
        return NodeSelectorTerm(match_expressions=lines)


class StorageClass(KubeStruct, frozen=True, kw_only=True):
    """A storage class."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologyTerm, ...] | None = None

    @property
    def waits_for_pod(self) -> bool:
        """Whether volumes are bound only when a pod that uses them is placed."""
        return self.volume_binding_mode == "WaitForFirstConsumer"

    @property
    def makes_volumes(self) -> bool:
        """Whether volumes are created on demand, rather than by hand in advance."""
        return self.provisioner not in ("", "kubernetes.io/no-provisioner")


class DriverLimit(KubeStruct, frozen=True, kw_only=True):
    """How many volumes of a driver a node can take."""

    count: int | None = None


class NodeDriver(KubeStruct, frozen=True, kw_only=True):
    """A driver on a node."""

    name: str = ""
    allocatable: DriverLimit | None = None


class CSINodeSpec(KubeStruct, frozen=True, kw_only=True):
    """The drivers of a node."""

    #: For a node without drivers, this is null, not an empty list.
    drivers: tuple[NodeDriver, ...] | None = None


class CSINode(KubeStruct, frozen=True, kw_only=True):
    """What the storage drivers say about a node of the same name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()

    @property
    def limits(self) -> dict[str, int]:
        """How many volumes the node can take, by driver. A driver that is missing has no limit."""
        return {
            driver.name: driver.allocatable.count
            for driver in self.spec.drivers or ()
            if driver.allocatable is not None and driver.allocatable.count is not None
        }


def _bytes(amounts: Quantities) -> int:
    return parse_quantity(str(amounts.get("storage", 0)))
