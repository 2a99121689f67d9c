"""How large the cluster may get."""

from nodewright.config.model.base import Section
from nodewright.config.values import Bytes, Cores, Count, Name, Switch

_GIB = 1024**3


class NodeLimit(Section):
    """The number of nodes."""

    max: Count = 0
    """Most nodes, all groups together; 0 is no limit."""


class CpuLimit(Section):
    """The cores of all nodes together."""

    min: Cores = 0
    """Scale-down keeps at least so many."""
    max: Cores = 320_000_000
    """Scale-up ends at so many."""


class MemoryLimit(Section):
    """The memory of all nodes together."""

    min: Bytes = 0
    """Scale-down keeps at least so much."""
    max: Bytes = 6_400_000 * _GIB
    """Scale-up ends at so much."""


class GpuLimit(Section):
    """The GPUs of one type, over all nodes."""

    type: Name
    """The value of the provider's GPU label."""
    min: Count = 0
    """Scale-down keeps at least so many."""
    max: Count
    """Scale-up ends at so many."""


class Limits(Section):
    """How large the cluster may get, and how small."""

    nodes: NodeLimit = NodeLimit()
    """The number of nodes."""
    cpu: CpuLimit = CpuLimit()
    """The cores of all nodes together."""
    memory: MemoryLimit = MemoryLimit()
    """The memory of all nodes together."""
    gpus: tuple[GpuLimit, ...] = ()
    """GPUs by type."""
    capacity_quotas: Switch = False
    """Obey CapacityQuota objects."""
