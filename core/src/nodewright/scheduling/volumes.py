"""The filters of volumes, in the scheduler's order: VolumeRestrictions, NodeVolumeLimits, VolumeBinding, VolumeZone."""

from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.scheduling.static import Mask


def matter(pod: PodClass) -> bool:
    """Tell whether *pod* has volumes that decide where it can run."""
    return False


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why the pod's volumes keep it off a node, or None."""
    return None


def allowed(cluster: Cluster, pod: PodClass, mask: Mask) -> Mask:
    """Return *mask* without the rows that the pod's volumes keep it off."""
    return mask
