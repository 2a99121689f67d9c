"""How much memory a booted system sees of what Google sells."""

import math

from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.machine_types.info import MachineTypeInfo

#: Linux keeps 64 bytes for each page of 4 KiB, and has some of its own.
_PAGE_TABLE = 1 / 64
_KERNEL_MIB = 16
#: For devices that can't address all memory; reserved on machines that have more than these can address.
_BOUNCE_BUFFER_MIB, _ADDRESSABLE_MIB = 64, 3072
#: Where memory is encrypted, all devices need such a buffer: a share of it all, within bounds.
_ENCRYPTED_SHARE, _MOST_ENCRYPTED_MIB = 0.06, 1024
_SMALL_MIB, _MORE_ON_SMALL_MIB = 8192, 8
#: What else is missing on real nodes, as a share and at most.
_FIRMWARE, _MOST_FIRMWARE_MIB = 0.00175, 248
_UBUNTU_MIB = 4
_ARM = 0.0029

#: What real nodes have less than all that, by family: a share that covers the worst published one.
_MARGINS = {"a2": 0.0075, "e2": 0.0075, "n1": 0.003, "n2": 0.0075}
#: Larger machines of these families do not miss more.
_MOST_MARGIN_MIB = 200
#: Of families of which no node has been published.
_MARGIN_OF_OTHERS = 0.01


def memory_seen(
    info: MachineTypeInfo,
    distribution: OsDistribution,
    *,
    encrypted: bool = False,
    overhead_percent: float | None = None,
) -> int:
    """Return the bytes of memory that a node of the type reports as its capacity; errs on the low side.

    *encrypted* is true of confidential machines. *overhead_percent* is the part of what Google sells that is
    missing; without it, the part is estimated.
    """
    if overhead_percent is not None:
        seen = info.memory_mib * (1 - overhead_percent / 100)
    else:
        seen = info.memory_mib - _kept_mib(info, distribution) - (_encryption_mib(info) if encrypted else 0)
    return max(0, math.floor(seen * 1024)) * 1024


def _kept_mib(info: MachineTypeInfo, distribution: OsDistribution) -> float:
    sold = info.memory_mib
    return (
        sold * _PAGE_TABLE
        + _KERNEL_MIB
        + (_BOUNCE_BUFFER_MIB if sold > _ADDRESSABLE_MIB else 0)
        + (_MORE_ON_SMALL_MIB if sold <= _SMALL_MIB else 0)
        + min(sold * _FIRMWARE, _MOST_FIRMWARE_MIB)
        + (_UBUNTU_MIB if distribution is OsDistribution.UBUNTU else 0)
        + (sold * _ARM if info.architecture == "arm64" else 0)
        + _margin_mib(info)
    )


def _encryption_mib(info: MachineTypeInfo) -> float:
    return min(max(info.memory_mib * _ENCRYPTED_SHARE, _BOUNCE_BUFFER_MIB), _MOST_ENCRYPTED_MIB)


def _margin_mib(info: MachineTypeInfo) -> float:
    if info.family in _MARGINS:
        return min(info.memory_mib * _MARGINS[info.family], _MOST_MARGIN_MIB)
    return info.memory_mib * _MARGIN_OF_OTHERS
