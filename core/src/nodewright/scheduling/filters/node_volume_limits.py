"""Filter NodeVolumeLimits: the CSINode of a node limits the volumes that a storage driver attaches to it."""

from collections import defaultdict

import numpy as np

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.cluster.attachments import Attachment
from nodewright.scheduling.filters.static import Mask

REFUSAL = Verdict(reason=Reason.VOLUME_LIMITS)


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why a node can't have the pod's volumes attached, or None."""
    return REFUSAL if any(over[row] for over in _over_limits(cluster, pod)) else None


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that can't have the pod's volumes attached."""
    for over in _over_limits(cluster, pod):
        mask = mask & ~over
    return mask


def _over_limits(cluster: Cluster, pod: PodClass) -> list[Mask]:
    """Return by row, for each driver, whether one more *pod* would be too much for it."""
    attachments = cluster.storage.attachments
    size = cluster.table.size
    by_driver: dict[str, list[Attachment]] = defaultdict(list)
    for attachment in cluster.storage.needs(pod):
        by_driver[attachment[0]].append(attachment)
    found = []
    for driver, needed in by_driver.items():
        new = np.full(size, len(needed), dtype=np.int32)
        for attachment in needed:
            new[list(attachments.rows_of(attachment))] -= 1
        left = attachments.limits(driver)[:size] - attachments.counts(driver)[:size]
        found.append((new > 0) & (new > left))
    return found
