"""The minimum and maximum size of the cluster."""

from nodewright.config.model.base import Section
from nodewright.config.values import Bytes, Cores, Count, Name, Switch

_GIB = 1024**3


class NodeLimit(Section):
    """The number of nodes."""

    max: Count = 0
    """The maximum number of nodes over all groups. 0 means no limit."""


class CpuLimit(Section):
    """The total number of cores over all nodes."""

    min: Cores = 0
    """Scale-down keeps at least this many."""
    max: Cores = 320_000_000
    """Scale-up stops at this many."""


class MemoryLimit(Section):
    """The total memory over all nodes."""

    min: Bytes = 0
    """Scale-down keeps at least this much."""
    max: Bytes = 6_400_000 * _GIB
    """Scale-up stops at this much."""


class GpuLimit(Section):
    """The total number of GPUs of one type over all nodes."""

    type: Name
    """The value of the provider's GPU label."""
    min: Count = 0
    """Scale-down keeps at least this many."""
    max: Count
    """Scale-up stops at this many."""


class Limits(Section):
    """The minimum and maximum size of the cluster."""

    nodes: NodeLimit = NodeLimit()
    """The number of nodes."""
    cpu: CpuLimit = CpuLimit()
    """The total number of cores over all nodes."""
    memory: MemoryLimit = MemoryLimit()
    """The total memory over all nodes."""
    gpus: tuple[GpuLimit, ...] = ()
    """The number of GPUs, by type."""
    capacity_quotas: Switch = False
    """Enforce CapacityQuota objects."""
