"""Claims, volumes and drivers for small worlds; see `nodewright.testing.builders` for the rest of them."""

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from nodewright.api import Pod
from nodewright.objects import (
    CSINode,
    LabelSelector,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
)
from nodewright.objects.node import ZONE
from nodewright.objects.volume import (
    ClaimReference,
    ClaimResources,
    ClaimSource,
    ClaimSpec,
    ClaimStatus,
    CSINodeSpec,
    CsiSource,
    DriverLimit,
    NodeDriver,
    TopologyTerm,
    Volume,
    VolumeNodeAffinity,
    VolumeSpec,
    VolumeStatus,
)

DRIVER = "disks.example.com"
BY_HAND = "kubernetes.io/no-provisioner"


def with_volumes(pod: Pod, *volumes: Volume) -> Pod:
    """The same pod with *volumes* besides its own."""
    return replace(pod, spec=replace(pod.spec, volumes=(*pod.spec.volumes, *volumes)))


def with_claims(pod: Pod, *names: str) -> Pod:
    """The same pod with a volume for each of the claims of these *names*."""
    return with_volumes(
        pod, *(Volume(name=name, persistent_volume_claim=ClaimSource(claim_name=name)) for name in names)
    )


def a_claim(
    name: str = "data",
    *,
    namespace: str = "default",
    volume: str = "",
    storage_class: str = "waits",
    size: str = "1Gi",
    modes: Iterable[str] = ("ReadWriteOnce",),
    selector: LabelSelector | None = None,
    annotations: Mapping[str, str] | None = None,
    made_for: Pod | None = None,
    phase: str = "",
) -> PersistentVolumeClaim:
    """A claim that is bound to *volume*, or open if none is given; one *made_for* a pod belongs to it."""
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    owners = (OwnerReference(kind="Pod", uid=made_for.metadata.uid, controller=True),) if made_for else ()
    return PersistentVolumeClaim(
        metadata=ObjectMeta(
            name=name,
            namespace=namespace,
            uid=f"uid-of-claim-{name}",
            annotations={**bound, **(annotations or {})},
            owner_references=owners,
        ),
        spec=ClaimSpec(
            volume_name=volume,
            storage_class_name=storage_class,
            access_modes=tuple(modes),
            resources=ClaimResources(requests={"storage": size}),
            selector=selector,
        ),
        status=ClaimStatus(phase=phase or ("Bound" if volume else "Pending")),
    )


def a_volume(
    name: str = "volume",
    *,
    claim: str = "",
    storage_class: str = "waits",
    size: str = "1Gi",
    modes: Iterable[str] = ("ReadWriteOnce",),
    mode: str = "Filesystem",
    labels: Mapping[str, str] | None = None,
    only: Mapping[str, str] | None = None,
    handle: str = "",
    phase: str = "",
) -> PersistentVolume:
    """A volume of a *claim* in namespace ``default``, or a free one; reached from nodes with the labels *only*.

    With a *handle*, the driver `DRIVER` attaches it.
    """
    lines = tuple(Requirement(key=key, operator="In", values=(value,)) for key, value in (only or {}).items())
    terms = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=lines),))
    return PersistentVolume(
        metadata=ObjectMeta(name=name, labels=dict(labels or {})),
        spec=VolumeSpec(
            capacity={"storage": size},
            access_modes=tuple(modes),
            storage_class_name=storage_class,
            volume_mode=mode,
            node_affinity=VolumeNodeAffinity(required=terms) if only else None,
            claim_ref=ClaimReference(namespace="default", name=claim) if claim else None,
            csi=CsiSource(driver=DRIVER, volume_handle=handle) if handle else None,
        ),
        status=VolumeStatus(phase=phase or ("Bound" if claim else "Available")),
    )


def a_storage_class(
    name: str = "waits", *, provisioner: str = DRIVER, waits: bool = True, zones: Iterable[str] = ()
) -> StorageClass:
    """A class whose volumes are made when a pod comes, unless *waits* is false; in *zones* only, if any are given."""
    places = tuple(TopologyTerm(match_label_expressions=({"key": ZONE, "values": [zone]},)) for zone in zones)
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=provisioner,
        volume_binding_mode="WaitForFirstConsumer" if waits else "Immediate",
        allowed_topologies=places or None,
    )


def a_csi_node(name: str = "node-1", *, limit: int | None = None) -> CSINode:
    """What the driver `DRIVER` says about a node: it takes *limit* volumes, or any number."""
    driver = NodeDriver(name=DRIVER, allocatable=None if limit is None else DriverLimit(count=limit))
    return CSINode(metadata=ObjectMeta(name=name), spec=CSINodeSpec(drivers=(driver,)))
