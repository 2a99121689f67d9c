"""Capacity and allocatable of a node, by machine type: CPU, memory, pods, ephemeral storage, GPUs."""

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.api import Resources, parse_quantity

from nodewright_gce.config.templates import OsDistribution
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.machine_types.memory import memory_seen
from nodewright_gce.machine_types.storage import (
    boot_disk_capacity,
    gke_boot_disk_reserved,
    gke_ssd_reserved,
    ssd_capacity,
)

_MIB = 1024**2

#: CPU that GKE reserves of the first core, the second, the next two and the rest, in basis points.
_CPU_RESERVED = ((1000, 600), (2000, 100), (4000, 50), (1 << 31, 25))
#: Of types that share a core, GKE counts the core once, and the rest as reserved.
_SHARED_CORE = 1000
#: CPU that newer versions of GKE reserve if more than so many pods fit.
_CPU_FOR_MANY_PODS, _MANY_PODS = 400, 110
#: Memory that GKE reserves, in percent of so many MiB each, and on the smallest machines.
_MEMORY_RESERVED = ((4000, 25), (8000, 20), (16_000, 10), (128_000, 6), (1 << 31, 2))
_RESERVED_ON_TINY_MIB, _TINY_MIB = 255, 1024

#: The kubelet's own defaults.
EVICTION = {"memory.available": "100Mi", "nodefs.available": "10%"}
_EVICTED_FOR = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}


@dataclass(frozen=True, kw_only=True)
class NodeSetup:
    """How nodes are set up: what machines of all types have in common."""

    distribution: OsDistribution = OsDistribution.OTHER
    max_pods: int = 110
    #: Size of the boot disk, if pods write to it.
    boot_disk_gib: int | None = None
    #: How many local SSDs pods write to, in place of the boot disk, and the size of each.
    storage_ssds: int = 0
    storage_ssd_gib: int = 375
    #: What kubelets keep is as GKE's formulas say.
    reserved_by_gke: bool = False
    #: What kubelets keep for themselves, in place of these formulas; in the units of `nodewright.api.Resources`.
    kube_reserved: Mapping[str, int] = field(default_factory=dict)
    #: What they keep for the system, on top.
    system_reserved: Mapping[str, int] = field(default_factory=dict)
    eviction: Mapping[str, str] = field(default_factory=dict)
    #: The machines are confidential: their memory is encrypted.
    encrypted_memory: bool = False
    #: Percent of the memory sold that is not there; by default an estimate.
    memory_overhead: float | None = None


def capacity_and_allocatable(info: MachineTypeInfo, setup: NodeSetup) -> tuple[dict[str, int], dict[str, int]]:
    """Return what a node of the type will report as its capacity, and as allocatable.

    Errs on the low side, so that no pod is promised a node that can't hold it. Ephemeral storage is left out if nothing
    is known of it.
    """
    capacity = {
        "cpu": info.vcpus,
        "memory": memory_seen(
            info, setup.distribution, encrypted=setup.encrypted_memory, overhead_percent=setup.memory_overhead
        ),
        "pods": setup.max_pods,
    }
    storage = _storage(info, setup)
    if storage is not None:
        capacity["ephemeral-storage"] = storage
    return capacity, allocatable_of(capacity, info, setup)


def allocatable_of(capacity: Resources, info: MachineTypeInfo, setup: NodeSetup) -> dict[str, int]:
    """Return what is left for pods of *capacity*."""
    own = {**(_gke_reserved(info, setup) if setup.reserved_by_gke else {}), **setup.kube_reserved}
    kept = (own, setup.system_reserved, _evicted(capacity, setup))
    return {name: max(0, amount - sum(each.get(name, 0) for each in kept)) for name, amount in capacity.items()}


def _storage(info: MachineTypeInfo, setup: NodeSetup) -> int | None:
    if setup.storage_ssds:
        return ssd_capacity(setup.storage_ssds, setup.storage_ssd_gib, setup.distribution)
    if setup.boot_disk_gib is None:
        return None
    return boot_disk_capacity(setup.boot_disk_gib, setup.distribution, info.architecture)


def _gke_reserved(info: MachineTypeInfo, setup: NodeSetup) -> dict[str, int]:
    if setup.storage_ssds:
        storage = gke_ssd_reserved(setup.storage_ssds)
    else:
        storage = gke_boot_disk_reserved(setup.boot_disk_gib or 0)
    return {
        "cpu": _gke_cpu_reserved(info, setup.max_pods),
        "memory": _gke_memory_reserved_mib(info.memory_mib) * _MIB,
        "ephemeral-storage": storage,
    }


def _gke_cpu_reserved(info: MachineTypeInfo, max_pods: int) -> int:
    for_many = _CPU_FOR_MANY_PODS if max_pods > _MANY_PODS else 0
    if info.shared_core:
        return _of_tiers(_SHARED_CORE, _CPU_RESERVED) // 10_000 + max(0, info.vcpus - _SHARED_CORE) + for_many
    return _of_tiers(info.vcpus, _CPU_RESERVED) // 10_000 + for_many


def _gke_memory_reserved_mib(mib: int) -> int:
    return _RESERVED_ON_TINY_MIB if mib < _TINY_MIB else _of_tiers(mib, _MEMORY_RESERVED) // 100


def _of_tiers(amount: int, tiers: tuple[tuple[int, int], ...]) -> int:
    """Return the sum of the shares of *amount*, each of which holds up to the end of its tier."""
    total = start = 0
    for end, share in tiers:
        total += max(0, min(amount, end) - start) * share
        start = end
    return total


def _evicted(capacity: Resources, setup: NodeSetup) -> dict[str, int]:
    thresholds = {**EVICTION, **setup.eviction}
    return {
        resource: _threshold(thresholds[signal], capacity.get(resource, 0)) for signal, resource in _EVICTED_FOR.items()
    }


def _threshold(text: str, capacity: int) -> int:
    if not text.endswith("%"):
        return parse_quantity(text)
    # The kubelet holds the share in a 32-bit float, in which a tenth is slightly more than a tenth.
    (share,) = struct.unpack("f", struct.pack("f", float(text[:-1]) / 100))
    return int(capacity * share)
