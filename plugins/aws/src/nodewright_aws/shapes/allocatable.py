"""What a machine has, and how much of it pods may use."""

from nodewright.api import Resources

from nodewright_aws.shapes.settings import KubeletSettings
from nodewright_aws.shapes.shape import Shape

_MIB = 1024**2


def capacity_and_allocatable(
    shape: Shape, kubelet: KubeletSettings, *, root_volume_gib: int | None
) -> tuple[Resources, Resources]:
    """Return what a node on a machine of *shape* will report as its capacity, and as allocatable.

    No more than it will really report, so that no pod is promised a node that can't hold it. Without
    *root_volume_gib* it is not known how much disk there is, and ephemeral storage is left out.
    """
    pods = shape.interfaces * (shape.addresses_per_interface - 1) + 2
    capacity = {"cpu": 1000 * shape.vcpus, "memory": shape.memory_mib * _MIB, "pods": pods}
    return capacity, capacity


def ebs_attach_limit(shape: Shape) -> int:
    """Return how many volumes the CSI driver of EBS will attach to a machine of *shape*, besides the one it boots from."""
    return max(0, shape.ebs_attachments - 1)
