"""Utilization: how much of a node its pods request."""

from dataclasses import dataclass
from datetime import datetime

from nodewright.api.provider import GpuConfig
from nodewright.cluster import Cluster, PodRow
from nodewright.config.model import ScaleDown
from nodewright.decision.scaledown.drain.drainability import is_long_terminating
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class Utilization:
    """The requested shares of a node's resources. For a node with GPUs, only these count."""

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
        """Whether a larger share of cpu than of memory is requested."""
        return self.cpu > self.memory


class Utilizations:
    """How much of each node is requested, also by pods that were placed there in this decision.

    Valid until something is placed. Pods that should be gone by now don't count. Those that settings exclude are
    deducted from what the node has.
    """

    def __init__(self, cluster: Cluster, settings: ScaleDown, now: datetime) -> None:
        self._cluster = cluster
        self._settings = settings
        self._now = now
        size = cluster.table.size
        self._free: dict[str, list[int]] = {
            name: cluster.table.free[index, :size].tolist() for name, index in cluster.table.dimensions.items()
        }
        ending = [pods for pods in cluster.pod_classes.known if pods.terminating and pods.population]
        #: How many pods are about to end, by row; nearly always none.
        self._ending: list[int] = cluster.tally.total(ending)[:size].tolist() if ending else [0] * size

    def of(self, node: Node, *, gpu: GpuConfig | None = None, ignore_daemons: bool = False) -> Utilization:
        """Return how much of *node* is requested; if it has a *gpu*, only how much of that."""
        row = self._cluster.table.rows[node.name]
        allocatable = node.allocatable
        leaves_out = ignore_daemons or self._settings.ignore_mirror_pods_utilization
        resources = ("cpu", "memory") if gpu is None else (gpu.resource,)
        gone = self._gone(node, ignore_daemons=ignore_daemons) if leaves_out or self._ending[row] else ()
        shares = []
        for resource in resources:
            has = allocatable.get(resource, 0)
            # What is not free is requested.
            used = has - self._free[resource][row] if resource in self._free else 0
            for pod, ignored in gone:
                amount = pod.pod_class.requests.get(resource, 0)
                used -= amount
                has -= amount if ignored else 0
            shares.append(used / has if has > 0 else 0.0)
        return Utilization(gpu=shares[0]) if gpu is not None else Utilization(cpu=shares[0], memory=shares[1])

    def _gone(self, node: Node, *, ignore_daemons: bool) -> list[tuple[PodRow, bool]]:
        """Return the pods that don't count, and for each whether its room does not count either."""
        return [
            (pod, ignored)
            for pod in self._cluster.pods_on(node.name)
            if (ignored := _is_ignored(pod, self._settings, ignore_daemons=ignore_daemons))
            or is_long_terminating(pod, self._now)
        ]


def _is_ignored(pod: PodRow, settings: ScaleDown, *, ignore_daemons: bool) -> bool:
    model = pod.pod_class.pod
    return (ignore_daemons and model.is_daemon) or (settings.ignore_mirror_pods_utilization and model.is_mirror)
