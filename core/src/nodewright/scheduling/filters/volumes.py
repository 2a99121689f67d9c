"""The filters of volumes, in the scheduler's order: VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone."""

import numpy as np

from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass, Rows
from nodewright.scheduling.filters import node_volume_limits, volume_binding, volume_restrictions, volume_zone
from nodewright.scheduling.filters.static import Mask


def matter(pod: PodClass) -> bool:
    """Return whether *pod* has volumes that affect where it can run."""
    return pod.has_volumes


def prefilter(cluster: Cluster, pod: PodClass) -> Verdict | None:
    """Return why the pod's volumes let it run nowhere, or None; kube-scheduler asks this before all filters."""
    if not pod.has_volumes:
        return None
    return (
        volume_restrictions.prefilter(cluster, pod)
        or volume_binding.prefilter(cluster, pod)
        or volume_zone.prefilter(cluster, pod)
    )


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why the pod's volumes keep it off a node, or None."""
    if not pod.has_volumes:
        return None
    return (
        volume_restrictions.refusal(cluster, pod, row)
        or node_volume_limits.refusal(cluster, pod, row)
        or volume_binding.refusal(cluster, pod, row)
        or volume_zone.refusal(cluster, pod, row)
    )


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that the pod's volumes keep it off."""
    if prefilter(cluster, pod) is not None:
        return np.zeros_like(mask)
    for volume_filter in (volume_restrictions, node_volume_limits, volume_binding, volume_zone):
        mask = volume_filter.allowed(cluster, pod, mask)
    return mask


def allowed_of(cluster: Cluster, pod: PodClass, rows: Rows) -> Rows:
    """Return those of *rows* that the pod's volumes don't keep it off."""
    mask = np.zeros(cluster.table.size, dtype=np.bool_)
    mask[rows] = True
    return rows[allowed(cluster, pod, mask)[rows]]


def alike(cluster: Cluster, pod: PodClass) -> bool:
    """Return whether the volumes of *pod* allow any number of such pods where they allow one."""
    return not pod.disks and volume_binding.settled(cluster, pod) and not volume_restrictions.for_one_pod(cluster, pod)


def assume(cluster: Cluster, pod: PodClass, row: int) -> None:
    """Assume until the fork ends that open claims get their volumes, now that *pod* was put onto a node."""
    if pod.claims:
        volume_binding.assume(cluster, pod, row)
