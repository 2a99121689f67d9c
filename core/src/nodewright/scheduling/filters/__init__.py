"""The filters in kube-scheduler's order, for one pod and one node. The first refusal is the one that is reported."""

from collections.abc import Callable

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, PodClass
from nodewright.scheduling.filters import (
    inter_pod_affinity,
    node_ports,
    node_resources_fit,
    pod_topology_spread,
    static,
    volumes,
)

#: Each returns why a pod may not run on the node of a row now, or None. `placement` must know a filter as well: it asks
#: about many nodes at once. DynamicResources will be the last one.
FILTERS: tuple[Callable[[Cluster, PodClass, int], Verdict | None], ...] = (
    lambda cluster, pod, row: volumes.prefilter(cluster, pod),
    static.refusal,
    node_ports.refusal,
    node_resources_fit.refusal,
    volumes.refusal,
    pod_topology_spread.refusal,
    inter_pod_affinity.refusal,
)


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return the verdict of the first filter that keeps *pod* off a node; None if none does."""
    for refused in FILTERS:
        verdict = refused(cluster, pod, row)
        if verdict is not None:
            return verdict
    return None


def texts(verdict: Verdict) -> tuple[str, ...]:
    """Return the reasons of a verdict in kube-scheduler's words. Most filters give one."""
    match verdict.reason:
        case Reason.RESOURCES:
            return tuple(verdict.detail.split(", "))
        case Reason.VOLUME_CLAIM:
            return (verdict.detail,)
        case Reason.VOLUME_NODE_AFFINITY | Reason.VOLUME_MISSING if verdict.detail:
            return (verdict.reason.text, verdict.detail)
        case Reason.SPREAD if verdict.detail:
            return (f"{verdict.reason.text} ({verdict.detail})",)
    return (verdict.reason.text,)
