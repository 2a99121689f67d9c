"""Storage: claims, volumes, and how they are bound to each other."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from msgspec.structs import replace

from nodewright.cluster.attachments import Attachment, Attachments
from nodewright.cluster.journal import Journal
from nodewright.cluster.node_table import VACANT, NodeTable
from nodewright.cluster.pod_class import PodClass
from nodewright.objects import CSINode, ObjectMeta, PersistentVolume, PersistentVolumeClaim, StorageClass
from nodewright.objects.volume import TELLING_ANNOTATIONS

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """What a fork assumes about an open claim."""

    #: The volume that the claim gets. Empty if one is created for it.
    volume: str
    #: Row of the node that its pod was put onto.
    row: int


class Storage:
    """Everything known about volumes outside of pods. Written by `Cluster`. Only `assume` is for forks."""

    def __init__(self, table: NodeTable, journal: Journal) -> None:
        self.claims: dict[str, PersistentVolumeClaim] = {}
        self.volumes: dict[str, PersistentVolume] = {}
        self.classes: dict[str, StorageClass] = {}
        self.csi_nodes: dict[str, CSINode] = {}
        #: What filters have computed about free volumes. Cleared whenever a volume comes, goes or changes.
        self.memo: dict[bytes, Any] = {}
        self.attachments = Attachments(table, self.needs)
        self._table = table
        self._journal = journal
        #: Volumes that no claim has, by storage class and name.
        self._free: dict[str, dict[str, PersistentVolume]] = {}
        #: Names of volumes that belong to a claim or are meant for it, by the claim's key.
        self._kept: dict[str, dict[str, None]] = {}
        #: Keys of the claims that name a volume, by its name.
        self._claimants: dict[str, dict[str, None]] = {}
        self._assumed: dict[str, Assumption] = {}
        #: Key of the claim that is assumed to get a volume, by the volume's name.
        self._takers: dict[str, str] = {}

    def put_claim(self, claim: PersistentVolumeClaim) -> None:
        """Add or replace a claim; raises `ValueError` if its size is malformed."""
        key, _ = claim.metadata.key, claim.size
        self._forget_claim(key)
        self.claims[key] = replace(claim, metadata=_without_ballast(claim.metadata, labels=False))
        if claim.spec.volume_name:
            self._claimants.setdefault(claim.spec.volume_name, {})[key] = None
        self.attachments.renew([key])

    def drop_claim(self, key: str) -> None:
        """Remove a claim."""
        self._forget_claim(key)
        self.attachments.renew([key])

    def put_volume(self, volume: PersistentVolume) -> None:
        """Add or replace a volume; raises `ValueError` if its size is malformed."""
        name, _ = volume.metadata.name, volume.size
        self._forget_volume(name)
        self.volumes[name] = volume = replace(volume, metadata=_without_ballast(volume.metadata, labels=True))
        if volume.spec.claim_ref is not None:
            self._kept.setdefault(volume.spec.claim_ref.key, {})[name] = None
        elif volume.status.phase == "Available":
            self._free.setdefault(volume.class_name, {})[name] = volume
        self.attachments.renew(self._claimants.get(name, ()))

    def drop_volume(self, name: str) -> None:
        """Remove a volume."""
        self._forget_volume(name)
        self.attachments.renew(self._claimants.get(name, ()))

    def put_class(self, storage_class: StorageClass) -> None:
        """Add or replace a storage class."""
        self.classes[storage_class.metadata.name] = storage_class
        self.attachments.renew_all()

    def drop_class(self, name: str) -> None:
        """Remove a storage class."""
        self.classes.pop(name, None)
        self.attachments.renew_all()

    def put_csi_node(self, csi_node: CSINode) -> None:
        """Add or replace what the drivers say about a node."""
        name = csi_node.metadata.name
        self.csi_nodes[name] = replace(csi_node, metadata=ObjectMeta(name=name))
        self.meet_node(name)

    def drop_csi_node(self, name: str) -> None:
        """Forget what the drivers said about a node."""
        self.csi_nodes.pop(name, None)
        self.meet_node(name)

    def meet_node(self, name: str) -> None:
        """Give a node's row the limits of its drivers, if there is such a node."""
        row = self._table.rows.get(name)
        if row is not None:
            csi_node = self.csi_nodes.get(name)
            self.attachments.limit(row, csi_node.limits if csi_node else {})

    def class_of(self, claim: PersistentVolumeClaim) -> StorageClass | None:
        """Return the storage class of *claim*, if it names one that exists."""
        return self.classes.get(claim.class_name)

    def waits_for_pod(self, claim: PersistentVolumeClaim) -> bool:
        """Return whether *claim*, not bound so far, is left open until a pod that uses it is placed."""
        storage_class = self.class_of(claim)
        return storage_class is not None and storage_class.waits_for_pod and not claim.spec.volume_name

    def node_of(self, claim: PersistentVolumeClaim) -> str:
        """Return the node for which a volume is being created for *claim*; empty if none was chosen so far."""
        assumed = self._assumption(claim.metadata.key)
        if assumed is not None and not assumed.volume:
            return self._table.names[assumed.row]
        return claim.selected_node

    def volumes_for(self, claim: PersistentVolumeClaim) -> list[PersistentVolume]:
        """Return the volumes that are reserved for *claim*."""
        meta = claim.metadata
        found = [self.volumes[name] for name in self._kept.get(meta.key, ())]
        kept = [volume for volume in found if volume.spec.claim_ref and volume.spec.claim_ref.uid in ("", meta.uid)]
        assumed = self._assumption(meta.key)
        if assumed is not None and assumed.volume in self.volumes:
            kept.append(self.volumes[assumed.volume])
        return kept

    def free_volumes(self, class_name: str) -> Iterable[PersistentVolume]:
        """Return the volumes of a class that belong to no claim, whether they are taken in a fork or not."""
        return self._free.get(class_name, {}).values()

    def is_taken(self, volume: str) -> bool:
        """Return whether a claim is assumed to get *volume*."""
        taker = self._takers.get(volume)
        assumed = None if taker is None else self._assumption(taker)
        return assumed is not None and assumed.volume == volume

    def needs(self, pod: PodClass) -> frozenset[Attachment]:
        """Return what each driver must attach for one *pod*."""
        claims = (self.claims.get(key) for key in pod.claim_keys)
        attachments = (self._attachment(claim) for claim in claims if claim is not None)
        return frozenset(attachment for attachment in attachments if attachment is not None)

    def assume(self, claim: str, volume: str, row: int) -> None:
        """Assume until the fork ends that a claim gets *volume*, or a new one if it is empty."""
        before, taker = self._assumed.get(claim), self._takers.get(volume)
        self._assumed[claim] = Assumption(volume=volume, row=row)
        if volume:
            self._takers[volume] = claim

        def undo() -> None:
            _restore(self._assumed, claim, before)
            if volume:
                _restore(self._takers, volume, taker)

        self._journal.note(undo)

    def _assumption(self, claim: str) -> Assumption | None:
        """What is assumed of a claim, unless the node of its pod was taken out since."""
        assumed = self._assumed.get(claim)
        return None if assumed is None or self._table.class_of[assumed.row] == VACANT else assumed

    def _attachment(self, claim: PersistentVolumeClaim) -> Attachment | None:
        volume = self.volumes.get(claim.spec.volume_name)
        if volume is not None:
            source = volume.spec.csi
            return (source.driver, source.volume_handle) if source and source.driver and source.volume_handle else None
        storage_class = self.class_of(claim)
        if storage_class is None or not storage_class.provisioner:
            return None
        # A volume that does not exist so far is known by its claim.
        return storage_class.provisioner, f"claim {claim.metadata.key}"

    def _forget_claim(self, key: str) -> None:
        claim = self.claims.pop(key, None)
        if claim is not None:
            _discard(self._claimants, claim.spec.volume_name, key)

    def _forget_volume(self, name: str) -> None:
        self.memo.clear()
        volume = self.volumes.pop(name, None)
        if volume is None:
            return
        if volume.spec.claim_ref is not None:
            _discard(self._kept, volume.spec.claim_ref.key, name)
        free = self._free.get(volume.class_name, {})
        free.pop(name, None)


def _without_ballast(meta: ObjectMeta, *, labels: bool) -> ObjectMeta:
    """Keep only the metadata that decisions read: there can be as many claims and volumes as pods."""
    return ObjectMeta(
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        labels=meta.labels if labels else {},
        annotations={key: value for key, value in meta.annotations.items() if key in TELLING_ANNOTATIONS},
        owner_references=meta.owner_references,
        deletion_timestamp=meta.deletion_timestamp,
    )


def _discard(index: dict[str, dict[str, None]], key: str, member: str) -> None:
    members = index.get(key, {})
    members.pop(member, None)
    if not members:
        index.pop(key, None)


def _restore(values: dict[str, _Value], key: str, before: _Value | None) -> None:
    if before is None:
        del values[key]
    else:
        values[key] = before
