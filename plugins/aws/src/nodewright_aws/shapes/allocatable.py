"""What a machine has, and how much of it pods may use."""

import struct
from collections.abc import Mapping

from nodewright.api import Resources, parse_quantity, parse_resources

from nodewright_aws.shapes.memory import memory_seen
from nodewright_aws.shapes.pods import max_pods, pods_by_interfaces
from nodewright_aws.shapes.settings import AmiFamily, KubeletSettings, Reservable
from nodewright_aws.shapes.shape import Shape
from nodewright_aws.shapes.storage import storage_seen

_MIB = 1024**2
#: What the AMIs of EKS keep of the first core, the second, the next two and the rest, in hundredths of a percent.
_CPU_KEPT = ((1000, 600), (2000, 100), (4000, 50), (1 << 31, 25))
_EVICTION = {"memory.available": "100Mi", "nodefs.available": "10%"}
_EVICTED_FOR = {"memory.available": "memory", "nodefs.available": "ephemeral-storage"}
_DEVICES = {"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "HABANA": "habana.ai/gaudi"}


def capacity_and_allocatable(
    shape: Shape, kubelet: KubeletSettings, *, root_volume_gib: int | None
) -> tuple[Resources, Resources]:
    """Return what a node on a machine of *shape* will report as its capacity, and as allocatable.

    Rather less than it will really report, so that no pod is promised a node that can't hold it. *root_volume_gib* is
    the volume that holds what pods write: the root volume, or Bottlerocket's second one. If it is None and no disks of
    the machine take its place, ephemeral storage is left out. Devices count as if their plugins already showed them.
    What machines are launched without, be it cores or EFA interfaces, *shape* must not have.
    """
    capacity = {
        "cpu": 1000 * shape.vcpus,
        "memory": memory_seen(shape, overhead_percent=kubelet.memory_overhead),
        "pods": max_pods(shape, kubelet),
        **_devices(shape),
    }
    storage = storage_seen(shape, kubelet, root_volume_gib)
    if storage is not None:
        capacity["ephemeral-storage"] = storage
    kept = (_kube_reserved(shape, kubelet), _amounts(kubelet.system_reserved), _evicted(capacity, kubelet))
    return capacity, {
        name: max(0, amount - sum(reserved.get(name, 0) for reserved in kept)) for name, amount in capacity.items()
    }


def _kube_reserved(shape: Shape, kubelet: KubeletSettings) -> dict[str, int]:
    own = _amounts(kubelet.kube_reserved)
    if kubelet.ami_family is AmiFamily.CUSTOM:
        return own
    # Amazon Linux reserves for the pods that the interfaces allow for, however many are let in.
    pods = max_pods(shape, kubelet) if kubelet.ami_family is AmiFamily.BOTTLEROCKET else pods_by_interfaces(shape)
    return {
        "cpu": _cpu_reserved(1000 * shape.vcpus),
        "memory": (255 + 11 * pods) * _MIB,
        "ephemeral-storage": 1024 * _MIB,
        **own,
    }


def _amounts(quantities: Mapping[Reservable, str]) -> dict[str, int]:
    return parse_resources({str(name): quantity for name, quantity in quantities.items()})


def _cpu_reserved(milli: int) -> int:
    reserved = start = 0
    for end, share in _CPU_KEPT:
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
    # A kubelet keeps the share in 32 bits, and a tenth of that kind is more than a tenth.
    (share,) = struct.unpack("f", struct.pack("f", float(text[:-1]) / 100))
    return int(capacity * share)


def _devices(shape: Shape) -> dict[str, int]:
    found = {
        "aws.amazon.com/neuron": shape.neuron_devices,
        "aws.amazon.com/neuroncore": shape.neuron_cores,
        "vpc.amazonaws.com/efa": shape.efa_interfaces,
    }
    if shape.gpu is not None and (resource := _DEVICES.get(shape.gpu.manufacturer.upper())):
        found[resource] = shape.gpu.count
    return {name: count for name, count in found.items() if count}
