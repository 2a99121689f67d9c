"""What nodes count for in limits, whether largest or smallest."""

from collections.abc import Mapping

from nodewright.api.provider import GpuConfig
from nodewright.objects import Resources

_CORE = 1000
#: A node that stands for another cluster has no size of its own.
VIRTUAL = ("type", "virtual-kubelet")


def amounts(capacity: Resources, gpu: GpuConfig | None) -> Resources:
    """Return what a node of *capacity* counts for: whole cores, and its GPUs by their type."""
    counted = {**capacity, "cpu": -(-capacity.get("cpu", 0) // _CORE) * _CORE}
    if gpu is not None:
        counted[gpu.type] = capacity.get(gpu.resource, 0)
    return counted


def is_real(labels: Mapping[str, str]) -> bool:
    """Tell whether a node with *labels* counts at all."""
    key, value = VIRTUAL
    return labels.get(key) != value
