"""Random claims, volumes, their classes and what drivers say about nodes."""

from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from nodewright.objects import (
    CSINode,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Requirement,
    StorageClass,
)
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.volume import (
    ClaimReference,
    ClaimResources,
    ClaimSpec,
    ClaimStatus,
    CSINodeSpec,
    CsiSource,
    DriverLimit,
    NodeDriver,
    TopologyTerm,
    VolumeNodeAffinity,
    VolumeSpec,
    VolumeStatus,
)
from nodewright.testing.clock import EPOCH

from .dice import Dice
from .mix import Mix
from .names import DRIVER, NAMESPACES, OLD_ZONE, REGION, ZONES

_BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
_WAITS = "WaitForFirstConsumer"
_CLASSES = (
    StorageClass(metadata=ObjectMeta(name="waits"), provisioner=DRIVER, volume_binding_mode=_WAITS),
    StorageClass(
        metadata=ObjectMeta(name="waits-in-a"),
        provisioner=DRIVER,
        volume_binding_mode=_WAITS,
        allowed_topologies=(TopologyTerm(match_label_expressions=({"key": ZONE, "values": ["zone-a"]},)),),
    ),
    StorageClass(
        metadata=ObjectMeta(name="local"), provisioner="kubernetes.io/no-provisioner", volume_binding_mode=_WAITS
    ),
    StorageClass(metadata=ObjectMeta(name="at-once"), provisioner=DRIVER, volume_binding_mode="Immediate"),
)
_SIZES = ("1Gi", "2Gi", "5Gi")


@dataclass(kw_only=True)
class Storage:
    """All that has to do with volumes."""

    claims: list[PersistentVolumeClaim] = field(default_factory=list)
    volumes: list[PersistentVolume] = field(default_factory=list)
    classes: tuple[StorageClass, ...] = _CLASSES
    csi_nodes: tuple[CSINode, ...] = ()

    def add_claim(self, dice: Dice, mix: Mix, metadata: ObjectMeta) -> None:
        """Make a claim named by *metadata*, and its volume if it is to have one."""
        kind = dice.pick(("bound", "bound", "bound", "open", "open"))
        if dice.chance(mix.oddities // 3):
            kind = dice.pick(("lost", "missing volume", "prebound", "deleted", "chosen node", "no such class"))
        modes = ("ReadWriteOncePod",) if dice.chance(12) else ("ReadWriteOnce",)
        storage_class = dice.pick(("waits", "waits", "local", "local", "waits-in-a"))
        if kind == "open" and dice.chance(mix.oddities // 4):
            storage_class = dice.pick(("at-once", ""))
        spec: dict[str, Any] = {"storage_class_name": storage_class}
        changes: dict[str, Any] = {}
        volume = f"volume-of-{metadata.name}-{metadata.namespace}"
        match kind:
            case "bound" | "lost" | "deleted":
                spec["volume_name"] = volume
                changes["annotations"] = _BOUND
                self.volumes.append(_bound_volume(dice, volume, metadata))
            case "missing volume":
                spec["volume_name"] = volume
                changes["annotations"] = _BOUND
            case "prebound":
                spec["volume_name"] = volume
            case "chosen node":
                changes["annotations"] = {"volume.kubernetes.io/selected-node": "node-1"}
            case "no such class":
                spec["storage_class_name"] = "gone"
        if kind == "deleted":
            changes["deletion_timestamp"] = EPOCH
        self.claims.append(
            PersistentVolumeClaim(
                metadata=_with(metadata, **changes),
                spec=ClaimSpec(
                    access_modes=modes, resources=ClaimResources(requests={"storage": dice.pick(_SIZES)}), **spec
                ),
                status=ClaimStatus(phase={"bound": "Bound", "lost": "Lost"}.get(kind, "Pending")),
            )
        )


def random_storage(dice: Dice, mix: Mix, nodes: tuple[Node, ...]) -> Storage:
    """Up to four claims in each namespace, some volumes that wait for a claim, limits on some nodes."""
    storage = Storage()
    if mix.claims == 0:
        return storage
    for namespace in NAMESPACES:
        for number in range(dice.number(1, 4)):
            storage.add_claim(dice, mix, ObjectMeta(name=f"claim-{number}", namespace=namespace))
    storage.volumes += [_free_volume(dice, number, nodes) for number in range(dice.number(0, 4))]
    storage.csi_nodes = tuple(
        CSINode(
            metadata=ObjectMeta(name=node.name),
            spec=CSINodeSpec(
                drivers=(NodeDriver(name=DRIVER, allocatable=DriverLimit(count=dice.pick((3, 2, 1, 0, None)))),)
            ),
        )
        for node in nodes
        if dice.chance(40)
    )
    return storage


def _bound_volume(dice: Dice, name: str, claim: ObjectMeta) -> PersistentVolume:
    """A volume with an owner, that can be reached from some zone, from everywhere, or carries zone labels."""
    zones = dice.some(ZONES, 2)
    labels = {}
    if dice.chance(25):
        labels[dice.pick((ZONE, ZONE, OLD_ZONE, REGION))] = dice.pick(("__".join(zones), zones[0], f"{zones[0]}__"))
    source = CsiSource(driver=DRIVER, volume_handle=dice.pick((name, name, "shared"))) if dice.chance(60) else None
    return PersistentVolume(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=VolumeSpec(
            capacity={"storage": "5Gi"},
            access_modes=("ReadWriteOnce",),
            node_affinity=_only_in(ZONE, zones) if dice.chance(50) else None,
            claim_ref=ClaimReference(namespace=claim.namespace, name=claim.name),
            csi=source,
        ),
        status=VolumeStatus(phase="Bound"),
    )


def _free_volume(dice: Dice, number: int, nodes: tuple[Node, ...]) -> PersistentVolume:
    """A volume of class ``local`` (or another) on one node or in one zone, perhaps kept for a claim."""
    where = _only_in(HOSTNAME, (dice.pick(nodes).name,)) if dice.chance(60) else _only_in(ZONE, (dice.pick(ZONES),))
    kept_for = ClaimReference(namespace="default", name=f"claim-{dice.number(0, 3)}") if dice.chance(15) else None
    return PersistentVolume(
        metadata=ObjectMeta(name=f"free-{number}"),
        spec=VolumeSpec(
            capacity={"storage": dice.pick(_SIZES)},
            access_modes=dice.pick((("ReadWriteOnce", "ReadWriteOncePod"), ("ReadWriteOnce",))),
            storage_class_name=dice.pick(("local", "local", "waits")),
            volume_mode=dice.pick(("Filesystem", "Filesystem", "Filesystem", "Block")),
            node_affinity=where,
            claim_ref=kept_for,
        ),
        status=VolumeStatus(phase=dice.pick(("Available", "Available", "Available", "Released"))),
    )


def _only_in(key: str, values: tuple[str, ...]) -> VolumeNodeAffinity:
    line = Requirement(key=key, operator="In", values=values)
    return VolumeNodeAffinity(required=NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(line,)),)))


def _with(metadata: ObjectMeta, **changes: Any) -> ObjectMeta:
    return replace(metadata, uid=f"uid-{metadata.namespace}-{metadata.name}", **changes)
