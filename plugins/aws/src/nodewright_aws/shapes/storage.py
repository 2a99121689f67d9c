"""How much disk a machine has for what pods write, and how many volumes may be attached to it."""

from nodewright_aws.shapes.settings import AmiFamily, KubeletSettings
from nodewright_aws.shapes.shape import Shape

_KIB = 1024
_GIB = 1024**3
#: Partitions and the file system's own on the root volume, whatever its size.
_ROOT_OVERHEAD_KIB = {AmiFamily.AL2: 12_308, AmiFamily.AL2023: 77_844}
#: For Arm, the partitions to boot from are others.
_ROOT_OVERHEAD_ARM_KIB = {AmiFamily.AL2: 21_524, AmiFamily.AL2023: 76_820}
#: Of file systems whose own share grows with them, in percent; more than any of them takes by default.
_OVERHEAD_PERCENT = 3


def storage_seen(shape: Shape, kubelet: KubeletSettings, volume_gib: int | None) -> int | None:
    """Return the bytes of ephemeral storage that a node reports as its capacity, None if nobody can tell."""
    if kubelet.local_disks_as_storage and shape.local_disk_gb:
        return shape.local_disk_gb * 1000**3 * (100 - _OVERHEAD_PERCENT) // 100 // _KIB * _KIB
    if volume_gib is None:
        return None
    sizes = _ROOT_OVERHEAD_KIB | (_ROOT_OVERHEAD_ARM_KIB if shape.arch == "arm64" else {})
    if kubelet.ami_family in sizes:
        return max(0, volume_gib * _GIB - sizes[kubelet.ami_family] * _KIB)
    return volume_gib * _GIB * (100 - _OVERHEAD_PERCENT) // 100 // _KIB * _KIB


def ebs_attach_limit(shape: Shape) -> int:
    """Return how many volumes the CSI driver of EBS attaches to a machine of *shape*, besides the one it boots from.

    Where interfaces share the limit, a second one is counted: the network plugin attaches it before long. Never less
    than 1, as the driver has it: Kubernetes takes 0 for no limit.
    """
    root, second_interface = 1, int(shape.ebs_shared_limit and shape.hypervisor != "xen")
    return max(1, shape.ebs_attachments - root - second_interface)
