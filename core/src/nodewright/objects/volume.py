"""Volumes of pods, and the claims, volumes and classes behind them."""

from typing import Any

from msgspec import field

from nodewright.objects.meta import KubeStruct, ObjectMeta
from nodewright.objects.selector import NodeSelector, NodeSelectorTerm, Requirement

Quantities = dict[str, str | int | float]


class ClaimSource(KubeStruct, frozen=True, kw_only=True):
    """A pod's reference to a claim."""

    claim_name: str = ""
    read_only: bool = False


class EmptyDir(KubeStruct, frozen=True, kw_only=True):
    """Room on the node, or in its memory, that lives as long as the pod."""

    medium: str = ""


class Volume(KubeStruct, frozen=True, kw_only=True):
    """A volume of a pod, as far as placement and removal depend on it."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    #: The claim is made with the pod, and named ``<pod>-<volume>``.
    ephemeral: dict[str, Any] | None = None
    empty_dir: EmptyDir | None = None
    host_path: dict[str, Any] | None = None
    csi: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    aws_elastic_block_store: dict[str, Any] | None = field(default=None, name="awsElasticBlockStore")
    iscsi: dict[str, Any] | None = None
    rbd: dict[str, Any] | None = None


class ClaimResources(KubeStruct, frozen=True, kw_only=True):
    """What a claim asks for."""

    requests: Quantities = field(default_factory=dict)


class ClaimSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a claim."""

    volume_name: str = ""
    storage_class_name: str | None = None
    access_modes: tuple[str, ...] = ()
    resources: ClaimResources = ClaimResources()
    volume_mode: str = "Filesystem"
    selector: dict[str, Any] | None = None


class ClaimStatus(KubeStruct, frozen=True, kw_only=True):
    """The state of a claim."""

    phase: str = "Pending"


class PersistentVolumeClaim(KubeStruct, frozen=True, kw_only=True):
    """A demand for a volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: ClaimSpec = ClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def bound(self) -> bool:
        """Whether a volume was found for it and says so too."""
        return bool(self.spec.volume_name) and "pv.kubernetes.io/bind-completed" in self.metadata.annotations


class VolumeNodeAffinity(KubeStruct, frozen=True, kw_only=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class ClaimReference(KubeStruct, frozen=True, kw_only=True):
    """The claim that a volume belongs to."""

    namespace: str = ""
    name: str = ""
    uid: str = ""


class CsiSource(KubeStruct, frozen=True, kw_only=True):
    """The driver behind a volume."""

    driver: str = ""
    volume_handle: str = ""


class VolumeSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a persistent volume."""

    capacity: Quantities = field(default_factory=dict)
    access_modes: tuple[str, ...] = ()
    storage_class_name: str = ""
    volume_mode: str = "Filesystem"
    node_affinity: VolumeNodeAffinity | None = None
    claim_ref: ClaimReference | None = None
    csi: CsiSource | None = None


class VolumeStatus(KubeStruct, frozen=True, kw_only=True):
    """The state of a persistent volume."""

    phase: str = ""


class PersistentVolume(KubeStruct, frozen=True, kw_only=True):
    """A volume."""

    metadata: ObjectMeta = ObjectMeta()
    spec: VolumeSpec = VolumeSpec()
    status: VolumeStatus = VolumeStatus()


class TopologyTerm(KubeStruct, frozen=True, kw_only=True):
    """Where volumes of a class can be made."""

    match_label_expressions: tuple[dict[str, Any], ...] = ()

    def as_node_selector_term(self) -> NodeSelectorTerm:
        """The same as a term over node labels."""
        lines = tuple(
            Requirement(key=line["key"], operator="In", values=tuple(line.get("values") or ()))
            for line in self.match_label_expressions
        )
        return NodeSelectorTerm(match_expressions=lines)


class StorageClass(KubeStruct, frozen=True, kw_only=True):
    """A kind of volume."""

    metadata: ObjectMeta = ObjectMeta()
    provisioner: str = ""
    volume_binding_mode: str = "Immediate"
    allowed_topologies: tuple[TopologyTerm, ...] | None = None

    @property
    def waits_for_pod(self) -> bool:
        """Whether volumes are made when a pod that uses them is placed."""
        return self.volume_binding_mode == "WaitForFirstConsumer"


class DriverLimit(KubeStruct, frozen=True, kw_only=True):
    """How many volumes of a driver a node takes."""

    count: int | None = None


class NodeDriver(KubeStruct, frozen=True, kw_only=True):
    """A driver on a node."""

    name: str = ""
    allocatable: DriverLimit | None = None


class CSINodeSpec(KubeStruct, frozen=True, kw_only=True):
    """The drivers of a node."""

    drivers: tuple[NodeDriver, ...] = ()


class CSINode(KubeStruct, frozen=True, kw_only=True):
    """What the storage drivers say about a node of the same name."""

    metadata: ObjectMeta = ObjectMeta()
    spec: CSINodeSpec = CSINodeSpec()
