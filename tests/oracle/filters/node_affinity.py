"""The node's labels must satisfy the pod's node selector and its required node affinity."""

from nodewright.objects import Node, Pod

from ..selectors import node_matches
from ..snapshot import NodeInfo, Snapshot


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    return () if wants(pod, info.node) else ("node(s) didn't match Pod's node affinity/selector",)


def wants(pod: Pod, node: Node) -> bool:
    """Whether *pod*'s node selector and required node affinity accept *node*."""
    labels = node.metadata.labels
    if any(key not in labels or labels[key] != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    return affinity is None or affinity.required is None or node_matches(affinity.required, node)
