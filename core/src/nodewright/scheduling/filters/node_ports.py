"""Filter NodePorts: two pods can't have one host port of a node."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import Cluster, Counts, PodClass

_REFUSAL = Verdict(reason=Reason.PORTS)
#: kube-scheduler knows no other address that stands for all.
_EVERY_ADDRESS = "0.0.0.0"


def refusal(cluster: Cluster, pod: PodClass, row: int) -> Verdict | None:
    """Return why the host ports of *pod* keep it off a node, or None."""
    return _REFUSAL if pod.ports and taken(cluster, pod)[row] else None


def taken(cluster: Cluster, pod: PodClass) -> Counts:
    """Return by row how many pods have a port that *pod* needs as well."""
    rivals = [other for other in cluster.pod_classes.known if other.ports and _clash(pod, other)]
    return cluster.tally.total(rivals)[: cluster.table.size]


def _clash(pod: PodClass, other: PodClass) -> bool:
    return any(
        protocol == other_protocol and port == other_port and _overlap(address, other_address)
        for protocol, port, address in pod.ports
        for other_protocol, other_port, other_address in other.ports
    )


def _overlap(address: str, other: str) -> bool:
    return address == other or _EVERY_ADDRESS in (address, other)
