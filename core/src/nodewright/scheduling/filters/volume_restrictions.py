"""Filter VolumeRestrictions: disks that pods of one node can't share, and claims that are for one pod only."""

from typing import Any

import numpy as np

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.objects.volume import Volume
from nodewright.scheduling.filters.static import Mask

DISK = Verdict(reason=Reason.VOLUME_RESTRICTIONS)
IN_USE = Verdict(reason=Reason.VOLUME_IN_USE)
_ONE_POD = "ReadWriteOncePod"


def prefilter(cluster: Cluster, pod: PodClass) -> Verdict | None:
    """Return why *pod* can't run anywhere, because a claim does not exist. None if all exist."""
    for name, key in zip(pod.claims, pod.claim_keys, strict=True):
        if name in pod.named_claims and key not in cluster.storage.claims:
            return Verdict(reason=Reason.VOLUME_CLAIM, detail=f'persistentvolumeclaim "{name}" not found')
    return None


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why a disk or a claim keeps *pod* off a node, or None."""
    if pod.disks and _taken(cluster, pod)[row]:
        return DISK
    return IN_USE if _is_in_use(cluster, pod) else None


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that a disk or a claim keeps *pod* off."""
    if _is_in_use(cluster, pod):
        return np.zeros_like(mask)
    return mask & ~_taken(cluster, pod) if pod.disks else mask


def for_one_pod(cluster: Cluster, pod: PodClass) -> list[str]:
    """Return the keys of those claims of *pod* that only one pod may use at a time."""
    claims = cluster.storage.claims
    return [
        key
        for name, key in zip(pod.claims, pod.claim_keys, strict=True)
        if name in pod.named_claims and key in claims and _ONE_POD in claims[key].spec.access_modes
    ]


def _is_in_use(cluster: Cluster, pod: PodClass) -> bool:
    return any(
        key.partition("/")[2] in user.named_claims
        for key in for_one_pod(cluster, pod)
        for user in cluster.storage.attachments.users(key)
    )


def _taken(cluster: Cluster, pod: PodClass) -> Mask:
    """Return by row whether a pod there has a disk that it can't share with *pod*."""
    taken = np.zeros(cluster.table.size, dtype=np.bool_)
    for other, rows in cluster.storage.attachments.homes():
        if any(_clash(mine, theirs) for mine in pod.disks for theirs in other.disks):
            taken[list(rows)] = True
    return taken


def _clash(mine: Volume, theirs: Volume) -> bool:
    return (
        _same(mine.aws_elastic_block_store, theirs.aws_elastic_block_store, "volumeID")
        or _same_and_written(mine.gce_persistent_disk, theirs.gce_persistent_disk, "pdName")
        or _same_and_written(mine.iscsi, theirs.iscsi, "iqn")
        or (_same_and_written(mine.rbd, theirs.rbd, "pool", "image") and _share_monitor(mine.rbd, theirs.rbd))
    )


def _same(mine: dict[str, Any] | None, theirs: dict[str, Any] | None, *names: str) -> bool:
    return bool(mine and theirs) and all((mine or {}).get(name) == (theirs or {}).get(name) for name in names)


def _same_and_written(mine: dict[str, Any] | None, theirs: dict[str, Any] | None, *names: str) -> bool:
    return _same(mine, theirs, *names) and not all((disk or {}).get("readOnly") for disk in (mine, theirs))


def _share_monitor(mine: dict[str, Any] | None, theirs: dict[str, Any] | None) -> bool:
    return not set((mine or {}).get("monitors") or ()).isdisjoint((theirs or {}).get("monitors") or ())
