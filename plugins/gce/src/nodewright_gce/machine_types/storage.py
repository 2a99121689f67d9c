"""How much ephemeral storage a node has: on its boot disk, or on its local SSDs."""

from collections.abc import Mapping

from nodewright_gce.config.templates import OsDistribution

_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3

#: What file system and partitions take of a boot disk: a share of it, and GiB. Flatcar has the largest partitions
#: of the other systems.
_BOOT_OVERHEAD = {
    OsDistribution.COS: (0.015635, 4.148),
    OsDistribution.UBUNTU: (0.03083, 0.171),
    OsDistribution.OTHER: (0.035, 2.5),
}
#: Besides, a share that does not grow without end.
_REST, _MOST_REST_GIB = 0.001, 100 / 1024
#: On Arm, Container-Optimized OS has larger partitions.
_COS_ON_ARM_GIB = 64 / 1024

#: KiB that the file system over so many local SSDs of the usual size takes; for other numbers that of the next one.
_SSD_OVERHEAD_KIB: Mapping[int, int] = {
    1: 7_289_472,
    2: 13_725_224,
    3: 20_031_312,
    4: 26_332_924,
    8: 51_556_096,
    16: 52_837_800,
    24: 78_686_620,
}
_USUAL_SSD_GIB = 375
#: Of SSDs of other sizes or in larger numbers, and with other systems: more than any of these takes.
_SSD_OVERHEAD = 0.03


def boot_disk_capacity(disk_gib: int, distribution: OsDistribution, architecture: str) -> int:
    """Return the bytes that pods see of a boot disk; errs on the low side."""
    share, partitions = _BOOT_OVERHEAD[distribution]
    on_arm = _COS_ON_ARM_GIB if architecture == "arm64" and distribution is OsDistribution.COS else 0
    return _whole_kib(disk_gib * (1 - share) - partitions - on_arm - min(disk_gib * _REST, _MOST_REST_GIB))


def ssd_capacity(count: int, gib_each: int, distribution: OsDistribution) -> int:
    """Return the bytes that pods see of *count* local SSDs that are joined into one; errs on the low side."""
    total = count * gib_each
    measured = distribution is OsDistribution.COS and gib_each == _USUAL_SSD_GIB
    overhead = next((kib for most, kib in _SSD_OVERHEAD_KIB.items() if count <= most), 0) if measured else 0
    return total * _GIB - overhead * _KIB if overhead else _whole_kib(total * (1 - _SSD_OVERHEAD))


def gke_boot_disk_reserved(disk_gib: int) -> int:
    """Return the bytes that GKE keeps of a boot disk for its own: half, or 35 % and 6 GiB, or 100 GiB, the least."""
    return min(disk_gib * _GIB // 2, disk_gib * _GIB * 35 // 100 + 6 * _GIB, 100 * _GIB)


def gke_ssd_reserved(count: int) -> int:
    """Return the bytes that GKE keeps of so many local SSDs that pods write to."""
    return min(25 * (count + 1), 100) * _GIB if count else 0


def _whole_kib(gib: float) -> int:
    return max(0, int(gib * _MIB)) * _KIB
