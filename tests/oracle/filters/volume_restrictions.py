"""Disks that one pod at a time may use: on a node for disks named in the pod, anywhere for some claims."""

from typing import Any

from nodewright.objects import Pod
from nodewright.objects.volume import Volume

from ..snapshot import NodeInfo, Snapshot

_ONE_POD = "ReadWriteOncePod"
_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)


def precheck(snapshot: Snapshot, pod: Pod) -> tuple[str, ...]:
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None and snapshot.claim_of(pod, volume) is None:
            return (f'persistentvolumeclaim "{volume.persistent_volume_claim.claim_name}" not found',)
    return ()


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if any(disks_clash(pod, other) for other in info.pods):
        return ("node(s) had no available disk",)
    single = single_claims(snapshot, pod)
    if single and any(single & claims(other) for other, _ in snapshot.residents()):
        return (_IN_USE,)
    return ()


def claims(pod: Pod) -> set[str]:
    """The keys of the claims that *pod* names."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return {f"{pod.metadata.namespace}/{source.claim_name}" for source in sources if source is not None}


def single_claims(snapshot: Snapshot, pod: Pod) -> set[str]:
    """Those of them that only one pod in the cluster may use."""
    return {key for key in claims(pod) if key in snapshot.claims and _ONE_POD in snapshot.claims[key].spec.access_modes}


def disks_clash(one: Pod, other: Pod) -> bool:
    """Whether two pods can't share a node because both name a disk that they may not share."""
    return any(_clash(mine, theirs) for mine in one.spec.volumes for theirs in other.spec.volumes)


def _clash(one: Volume, other: Volume) -> bool:
    if _same(one.aws_elastic_block_store, other.aws_elastic_block_store, "volumeID"):
        return True
    return (
        _same_writable(one.gce_persistent_disk, other.gce_persistent_disk, "pdName")
        or _same_writable(one.iscsi, other.iscsi, "iqn")
        or (
            _same_writable(one.rbd, other.rbd, "pool", "image")
            and bool({*one.rbd.get("monitors", ())} & {*other.rbd.get("monitors", ())})
        )
    )


def _same(one: dict[str, Any] | None, other: dict[str, Any] | None, *keys: str) -> bool:
    return one is not None and other is not None and all(one.get(key) == other.get(key) for key in keys)


def _same_writable(one: dict[str, Any] | None, other: dict[str, Any] | None, *keys: str) -> bool:
    return _same(one, other, *keys) and not (one.get("readOnly", False) and other.get("readOnly", False))
