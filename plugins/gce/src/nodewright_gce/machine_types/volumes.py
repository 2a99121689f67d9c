"""How many volumes the driver of Google's disks says it can attach to a machine."""

from nodewright_gce.machine_types.info import MachineTypeInfo

CSI_DRIVER = "pd.csi.storage.gke.io"
_SHARED_CORE, _OTHERS = 15, 127
#: By family: vCPUs up to which a limit holds, and the limit.
_BY_VCPUS = {
    "c4": ((2, 7), (4, 15), (24, 31), (48, 63)),
    "c4a": ((2, 7), (8, 15), (48, 31), (72, 63)),
    "c4d": ((2, 3), (4, 7), (8, 15), (96, 31), (192, 63)),
    "n4": ((8, 15), (80, 31)),
}
#: Newer families of which nothing is known: the least of the known ones.
_LIKE_C4D = frozenset({"c4n", "n4a", "n4d"})


def attach_limit(info: MachineTypeInfo) -> int:
    """Return how many volumes the driver attaches to a machine of the type, besides its boot disk."""
    if info.shared_core:
        return _SHARED_CORE
    tiers = _BY_VCPUS.get("c4d" if info.family in _LIKE_C4D else info.family, ())
    return next((limit for vcpus, limit in tiers if info.vcpus <= 1000 * vcpus), _OTHERS)
