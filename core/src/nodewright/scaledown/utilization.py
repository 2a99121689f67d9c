"""Utilization: how much of a node its pods ask for."""

from nodewright.cluster import Cluster
from nodewright.config.model import ScaleDown
from nodewright.objects import Node, Resources


def utilization(cluster: Cluster, node: Node, settings: ScaleDown, *, ignore_daemons: bool) -> float:
    """Return the larger of the requested shares of the node's cpu and memory."""
    allocatable = dict(node.allocatable)
    used: dict[str, int] = {}
    for row in cluster.pods_on(node.name):
        pod = row.pod_class.pod
        ignored = (ignore_daemons and pod.is_daemon) or (settings.ignore_mirror_pods_utilization and pod.is_mirror)
        _add(allocatable if ignored else used, row.pod_class.requests, -1 if ignored else 1)
    return max(_share(used, allocatable, resource) for resource in ("cpu", "memory"))


def _add(amounts: dict[str, int], requests: Resources, sign: int) -> None:
    for name, amount in requests.items():
        amounts[name] = amounts.get(name, 0) + sign * amount


def _share(used: dict[str, int], allocatable: dict[str, int], resource: str) -> float:
    return used.get(resource, 0) / allocatable[resource] if allocatable.get(resource, 0) > 0 else 0.0
