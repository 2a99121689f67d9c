"""Random claims, volumes, their classes and what drivers say about nodes."""

from dataclasses import dataclass, field

from msgspec.structs import replace
from nodewright.objects import (
    CSINode,
    LabelSelector,
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
_SELECTED = "volume.kubernetes.io/selected-node"
_ONCE = ("ReadWriteOnce",)
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

    #: Whether most claims are open and want one of the volumes that are there.
    local: bool = False
    claims: list[PersistentVolumeClaim] = field(default_factory=list)
    volumes: list[PersistentVolume] = field(default_factory=list)
    classes: tuple[StorageClass, ...] = _CLASSES
    csi_nodes: tuple[CSINode, ...] = ()

    def add_claim(self, dice: Dice, mix: Mix, metadata: ObjectMeta) -> None:
        """Make a claim named by *metadata*, and its volume if it is to have one."""
        metadata = replace(metadata, uid=f"uid-{metadata.namespace}-{metadata.name}")
        kind = dice.pick(("open", "open", "open", "bound") if self.local else ("bound", "bound", "open"))
        if dice.chance(mix.oddities // 3):
            kind = dice.pick(("lost", "volume gone", "prebound", "deleted", "class gone"))
        if kind == "deleted":
            metadata = replace(metadata, deletion_timestamp=EPOCH)
        spec = _open_spec(dice, mix, local=self.local)
        annotations = {_SELECTED: f"node-{dice.number(0, 3)}"} if kind == "open" and dice.chance(12) else {}
        if kind in ("bound", "lost", "deleted"):
            self.volumes.append(_bound_volume(dice, f"volume-of-{metadata.name}-{metadata.namespace}", metadata))
        if kind in ("bound", "lost", "deleted", "volume gone", "prebound"):
            spec = replace(spec, volume_name=f"volume-of-{metadata.name}-{metadata.namespace}")
            annotations = {} if kind == "prebound" else _BOUND
        if kind == "class gone":
            spec = replace(spec, storage_class_name="gone")
        self.claims.append(
            PersistentVolumeClaim(
                metadata=replace(metadata, annotations=annotations),
                spec=spec,
                status=ClaimStatus(phase={"bound": "Bound", "lost": "Lost"}.get(kind, "Pending")),
            )
        )


def random_storage(dice: Dice, mix: Mix, nodes: tuple[Node, ...]) -> Storage:
    """Up to four claims in each namespace, some volumes that wait for a claim, limits on some nodes."""
    storage = Storage(local=dice.chance(40))
    if mix.claims == 0:
        return storage
    for namespace in NAMESPACES:
        for number in range(dice.number(1, 4)):
            storage.add_claim(dice, mix, ObjectMeta(name=f"claim-{number}", namespace=namespace))
    storage.volumes += [
        _free_volume(dice, number, nodes)
        for number in range(dice.number(3, 10) if storage.local else dice.number(0, 3))
    ]
    storage.csi_nodes = tuple(
        CSINode(
            metadata=ObjectMeta(name=node.name),
            spec=CSINodeSpec(
                drivers=(NodeDriver(name=DRIVER, allocatable=DriverLimit(count=dice.pick((3, 2, 1, 1, 0, None)))),)
            ),
        )
        for node in nodes
        if dice.chance(60)
    )
    return storage


def _open_spec(dice: Dice, mix: Mix, *, local: bool) -> ClaimSpec:
    """What a claim asks for that has no volume so far."""
    storage_class = dice.pick(("local", "local", "local", "waits") if local else ("waits", "local", "waits-in-a"))
    if dice.chance(mix.oddities // 8):
        storage_class = dice.pick(("at-once", ""))
    return ClaimSpec(
        storage_class_name=storage_class,
        access_modes=dice.pick((_ONCE, _ONCE, (*_ONCE, "ReadOnlyMany"), ("ReadWriteOncePod",))),
        resources=ClaimResources(requests={"storage": dice.pick(_SIZES)}),
        volume_attributes_class_name="gold" if dice.chance(5) else "",
        selector=LabelSelector(match_labels={"tier": "fast"}) if dice.chance(20) else None,
    )


def _bound_volume(dice: Dice, name: str, claim: ObjectMeta) -> PersistentVolume:
    """A volume with an owner, that can be reached from some zone, from everywhere, or carries zone labels."""
    zones = dice.some(ZONES, 2)
    labels = {}
    if dice.chance(50):
        labels[dice.pick((ZONE, ZONE, OLD_ZONE, REGION))] = dice.pick(("__".join(zones), zones[0], f"{zones[0]}__"))
    source = CsiSource(driver=DRIVER, volume_handle=dice.pick((name, name, "shared"))) if dice.chance(60) else None
    return PersistentVolume(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=VolumeSpec(
            capacity={"storage": "5Gi"},
            access_modes=_ONCE,
            node_affinity=_where((_in(ZONE, *zones),)) if dice.chance(40) else None,
            claim_ref=ClaimReference(namespace=claim.namespace, name=claim.name),
            csi=source,
        ),
        status=VolumeStatus(phase="Bound"),
    )


def _free_volume(dice: Dice, number: int, nodes: tuple[Node, ...]) -> PersistentVolume:
    """A volume that waits for a claim, or is kept for one; mostly of class ``local``, on one node."""
    host = _in(HOSTNAME, dice.pick(nodes[:3]).name)
    zone = _in(ZONE, dice.pick(ZONES))
    kept_for = ClaimReference(namespace="default", name=f"claim-{dice.number(0, 3)}") if dice.chance(15) else None
    return PersistentVolume(
        metadata=ObjectMeta(
            name=f"free-{number}",
            labels=dice.pick(({"tier": "fast"}, {})),
            deletion_timestamp=EPOCH if dice.chance(5) else None,
        ),
        spec=VolumeSpec(
            capacity={"storage": dice.pick(_SIZES)},
            access_modes=dice.pick(((*_ONCE, "ReadWriteOncePod", "ReadOnlyMany"), _ONCE)),
            storage_class_name=dice.pick(("local", "local", "local", "waits")),
            volume_mode="Block" if dice.chance(10) else "Filesystem",
            volume_attributes_class_name="gold" if dice.chance(5) else "",
            node_affinity=dice.pick(
                (_where((host,)), _where((host,), (zone,)), _where((host, zone)), _where((zone,)), None)
            ),
            claim_ref=kept_for,
        ),
        status=VolumeStatus(phase="Released" if dice.chance(10) else "Available"),
    )


def _where(*terms: tuple[Requirement, ...]) -> VolumeNodeAffinity:
    """Nodes for which all lines of one of *terms* hold."""
    return VolumeNodeAffinity(
        required=NodeSelector(node_selector_terms=tuple(NodeSelectorTerm(match_expressions=term) for term in terms))
    )


def _in(key: str, *values: str) -> Requirement:
    return Requirement(key=key, operator="In", values=values)
