"""Utilization: how much of a node its pods ask for."""

from dataclasses import dataclass
from datetime import datetime

from nodewright.api.provider import GpuConfig
from nodewright.cluster import Cluster, PodRow
from nodewright.config.model import ScaleDown
from nodewright.objects import Node
from nodewright.scaledown.drainability import is_long_terminating


@dataclass(frozen=True, kw_only=True)
class Utilization:
    """Requested shares of what a node has. A node with GPUs is judged by these alone."""

    cpu: float = 0.0
    memory: float = 0.0
    #: None for a node that has no GPUs.
    gpu: float | None = None

    @property
    def value(self) -> float:
        """The share that decides."""
        return max(self.cpu, self.memory) if self.gpu is None else self.gpu

    @property
    def of_cpu(self) -> bool:
        """Whether cpu is more in demand than memory."""
        return self.cpu > self.memory


def utilization(
    cluster: Cluster,
    node: Node,
    settings: ScaleDown,
    now: datetime,
    *,
    gpu: GpuConfig | None = None,
    ignore_daemons: bool = False,
) -> Utilization:
    """Return how much of *node* is requested, by pods that were placed there in this decision as well.

    Pods that should be gone by now don't count. Those that settings say to leave out are taken off what the node has.
    """
    allocatable = node.allocatable
    resources = ("cpu", "memory") if gpu is None else (gpu.resource,)
    row = cluster.table.rows[node.name]
    dimensions = [cluster.table.dimensions.get(resource) for resource in resources]
    # What is not free is requested.
    used = [
        0 if at is None else allocatable.get(resource, 0) - int(cluster.table.free[at, row])
        for resource, at in zip(resources, dimensions, strict=True)
    ]
    has = [allocatable.get(resource, 0) for resource in resources]
    leaves_out = ignore_daemons or settings.ignore_mirror_pods_utilization
    for pod in cluster.pods_on(node.name):
        if pod.deleted is None and not leaves_out:
            # So it is with nearly all pods of nearly all clusters.
            continue
        ignored = _is_ignored(pod, settings, ignore_daemons=ignore_daemons)
        if ignored or is_long_terminating(pod, now):
            for index, resource in enumerate(resources):
                amount = pod.pod_class.requests.get(resource, 0)
                used[index] -= amount
                has[index] -= amount if ignored else 0
    shares = [_share(*entry) for entry in zip(used, has, strict=True)]
    return Utilization(gpu=shares[0]) if gpu is not None else Utilization(cpu=shares[0], memory=shares[1])


def _is_ignored(pod: PodRow, settings: ScaleDown, *, ignore_daemons: bool) -> bool:
    kind = pod.pod_class.pod
    return (ignore_daemons and kind.is_daemon) or (settings.ignore_mirror_pods_utilization and kind.is_mirror)


def _share(used: int, has: int) -> float:
    return used / has if has > 0 else 0.0
