"""The kinds of objects that are watched."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nodewright.cluster import Cluster
from nodewright.objects import DaemonSet, Node, Pod, PodDisruptionBudget
from nodewright.objects.meta import KubeStruct


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One watched kind: where it is served, and where it goes in the cluster."""

    name: str
    path: str
    type: type[KubeStruct]
    put: Callable[[Cluster, Any], None]
    drop: Callable[[Cluster, str], None]
    known: Callable[[Cluster], list[str]]


def _put_daemon_set(cluster: Cluster, daemon_set: DaemonSet) -> None:
    cluster.daemon_sets[daemon_set.metadata.key] = daemon_set


def _drop_daemon_set(cluster: Cluster, key: str) -> None:
    cluster.daemon_sets.pop(key, None)


def _put_budget(cluster: Cluster, budget: PodDisruptionBudget) -> None:
    cluster.budgets[budget.metadata.key] = budget


def _drop_budget(cluster: Cluster, key: str) -> None:
    cluster.budgets.pop(key, None)


KINDS = (
    Kind(
        name="nodes",
        path="/api/v1/nodes",
        type=Node,
        put=Cluster.put_node,
        drop=Cluster.drop_node,
        known=lambda cluster: list(cluster.nodes),
    ),
    Kind(
        name="pods",
        path="/api/v1/pods",
        type=Pod,
        put=Cluster.put_pod,
        drop=Cluster.drop_pod,
        known=lambda cluster: list(cluster.pods),
    ),
    Kind(
        name="daemonsets",
        path="/apis/apps/v1/daemonsets",
        type=DaemonSet,
        put=_put_daemon_set,
        drop=_drop_daemon_set,
        known=lambda cluster: list(cluster.daemon_sets),
    ),
    Kind(
        name="poddisruptionbudgets",
        path="/apis/policy/v1/poddisruptionbudgets",
        type=PodDisruptionBudget,
        put=_put_budget,
        drop=_drop_budget,
        known=lambda cluster: list(cluster.budgets),
    ),
)
