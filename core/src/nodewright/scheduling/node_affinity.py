"""Filter NodeAffinity: node selector and required node affinity."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import NodeClass, PodClass
from nodewright.cluster.node_class import HOSTNAME


def check(pod: PodClass, node: NodeClass, name: str) -> Verdict | None:
    """Return why *pod* may not run on *node*, or None."""
    spec = pod.pod.spec
    labels = {**node.labels, HOSTNAME: name} if pod.looks_at_names else node.labels
    for key, value in spec.node_selector.items():
        if labels.get(key) != value:
            return Verdict(reason=Reason.NODE_AFFINITY, detail=f"{key}={value}")
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None or affinity.required is None or affinity.required.matches(name, labels):
        return None
    return Verdict(reason=Reason.NODE_AFFINITY)
