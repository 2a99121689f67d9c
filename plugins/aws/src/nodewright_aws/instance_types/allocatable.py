"""Capacity and allocatable of a node, by instance type: CPU, memory, pods, ephemeral storage, devices, volumes."""

import struct
from collections.abc import Mapping

from nodewright.api import Resources, parse_quantity, parse_resources

from nodewright_aws.config import AmiFamily, KubeletSettings, Reservable
from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.instance_types.memory import memory_seen

_KIB, _MIB, _GIB = 1024, 1024**2, 1024**3

#: CPU that the AMIs of EKS reserve of the first core, the second, the next two and the rest, in basis points.
_CPU_RESERVED = ((1000, 600), (2000, 100), (4000, 50), (1 << 31, 25))
_EVICTION = {"memory.available": "100Mi", "nodefs.available": "10%"}
_EVICTED_FOR = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}
_DEVICES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "HABANA": "habana.ai/gaudi"}

#: Pods that use the machine's own address: the network plugin and kube-proxy.
_ON_HOST_NETWORK = 2
_ADDRESSES_IN_PREFIX = 16
#: The kubelet's own default.
_MAX_PODS = 110
_MOST_ON_SMALL, _MOST_ON_LARGE, _LARGEST_SMALL_VCPUS = 110, 250, 30

#: Size of the partitions and of the file system's metadata on the root volume, whatever its size.
_ROOT_OVERHEAD_KIB = {AmiFamily.AL2: 12_308, AmiFamily.AL2023: 77_844}
#: On Arm, the boot partitions differ.
_ROOT_OVERHEAD_ARM_KIB = {AmiFamily.AL2: 21_524, AmiFamily.AL2023: 76_820}
#: Of file systems whose metadata grows with them, in percent; more than any of them takes by default.
_OVERHEAD_PERCENT = 3


def capacity_and_allocatable(
    info: InstanceTypeInfo, kubelet: KubeletSettings, *, root_volume_gib: int | None
) -> tuple[Resources, Resources]:
    """Return what a node of the type will report as its capacity, and as allocatable.

    Errs on the low side, so that no pod is promised a node that can't hold it. *root_volume_gib* is the volume that
    pods write to: the root volume, or Bottlerocket's second one. Ephemeral storage is left out if it is None and no
    local disks take its place. Devices count as if their device plugins were already running. The caller takes out of
    *info* what machines are launched without, such as disabled cores or EFA interfaces.
    """
    capacity = {
        "cpu": 1000 * info.vcpus,
        "memory": memory_seen(info, overhead_percent=kubelet.memory_overhead),
        "pods": _max_pods(info, kubelet),
        **_devices(info),
    }
    storage = _storage(info, kubelet, root_volume_gib)
    if storage is not None:
        capacity["ephemeral-storage"] = storage
    kept = (_kube_reserved(info, kubelet), _amounts(kubelet.system_reserved), _evicted(capacity, kubelet))
    return capacity, {
        name: max(0, amount - sum(reserved.get(name, 0) for reserved in kept)) for name, amount in capacity.items()
    }


def ebs_attach_limit(info: InstanceTypeInfo) -> int:
    """Return how many volumes the EBS CSI driver attaches to a machine of the type, besides its root volume.

    If network interfaces share the limit, a second interface is counted: the network plugin soon attaches it. The limit
    is at least 1, as in the driver, because Kubernetes takes 0 for no limit.
    """
    root, second_interface = 1, int(info.ebs_shared_limit and info.hypervisor != "xen")
    return max(1, info.ebs_attachments - root - second_interface)


def _kube_reserved(info: InstanceTypeInfo, kubelet: KubeletSettings) -> dict[str, int]:
    own = _amounts(kubelet.kube_reserved)
    if kubelet.ami_family is AmiFamily.CUSTOM:
        return own
    # Amazon Linux reserves memory for the pods that the interfaces allow, whatever the limit of pods.
    bottlerocket = kubelet.ami_family is AmiFamily.BOTTLEROCKET
    pods = _max_pods(info, kubelet) if bottlerocket else _pods_by_interfaces(info)
    return {
        "cpu": _cpu_reserved(1000 * info.vcpus),
        "memory": (255 + 11 * pods) * _MIB,
        "ephemeral-storage": 1024 * _MIB,
        **own,
    }


def _amounts(quantities: Mapping[Reservable, str]) -> dict[str, int]:
    return parse_resources({str(name): quantity for name, quantity in quantities.items()})


def _cpu_reserved(milli: int) -> int:
    reserved = start = 0
    for end, share in _CPU_RESERVED:
        reserved += max(0, min(milli, end) - start) * share // 10_000
        start = end
    return reserved


def _evicted(capacity: Resources, kubelet: KubeletSettings) -> dict[str, int]:
    thresholds: dict[str, str] = {**_EVICTION, **dict(kubelet.eviction_hard.items())}
    return {
        (resource := _EVICTED_FOR[signal]): _threshold(text, capacity.get(resource, 0))
        for signal, text in thresholds.items()
    }


def _threshold(text: str, capacity: int) -> int:
    if not text.endswith("%"):
        return parse_quantity(text)
    # The kubelet holds the share in a 32-bit float, in which a tenth is slightly more than a tenth.
    (share,) = struct.unpack("f", struct.pack("f", float(text[:-1]) / 100))
    return int(capacity * share)


def _devices(info: InstanceTypeInfo) -> dict[str, int]:
    found = {
        "aws.amazon.com/neuron": info.neuron_devices,
        "aws.amazon.com/neuroncore": info.neuron_cores,
        "vpc.amazonaws.com/efa": info.efa_interfaces,
    }
    if info.gpu is not None and (resource := _DEVICES.get(info.gpu.manufacturer.upper())):
        found[resource] = info.gpu.count
    return {name: count for name, count in found.items() if count}


def _max_pods(info: InstanceTypeInfo, kubelet: KubeletSettings) -> int:
    """Return how many pods the kubelet admits."""
    mode = kubelet.max_pods
    if isinstance(mode, int):
        return mode
    if mode == "auto" and kubelet.ami_family is AmiFamily.CUSTOM:
        return _MAX_PODS
    without = kubelet.reserved_enis + kubelet.custom_networking
    # Prefixes need a Nitro machine.
    prefixes = mode == "prefix" and info.hypervisor != "xen"
    pods = _pods_by_interfaces(info, without=without, addresses=_ADDRESSES_IN_PREFIX if prefixes else 1)
    if mode not in ("managed", "prefix"):
        return pods
    return min(pods, _MOST_ON_SMALL if info.vcpus <= _LARGEST_SMALL_VCPUS else _MOST_ON_LARGE)


def _pods_by_interfaces(info: InstanceTypeInfo, *, without: int = 0, addresses: int = 1) -> int:
    """Return how many pods a machine has addresses for.

    It is *without* that many of its interfaces, and has *addresses* in each slot of an interface but the first.
    """
    interfaces = info.interfaces - without
    if interfaces <= 0:
        return 0
    return interfaces * (info.addresses_per_interface - 1) * addresses + _ON_HOST_NETWORK


def _storage(info: InstanceTypeInfo, kubelet: KubeletSettings, volume_gib: int | None) -> int | None:
    """Return the bytes of ephemeral storage that a node reports as its capacity; None if that is unknown."""
    if kubelet.local_disks_as_storage and info.local_disk_gb:
        return info.local_disk_gb * 1000**3 * (100 - _OVERHEAD_PERCENT) // 100 // _KIB * _KIB
    if volume_gib is None:
        return None
    sizes = _ROOT_OVERHEAD_KIB | (_ROOT_OVERHEAD_ARM_KIB if info.arch == "arm64" else {})
    if kubelet.ami_family in sizes:
        return max(0, volume_gib * _GIB - sizes[kubelet.ami_family] * _KIB)
    return volume_gib * _GIB * (100 - _OVERHEAD_PERCENT) // 100 // _KIB * _KIB
