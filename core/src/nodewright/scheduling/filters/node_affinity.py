"""Filter NodeAffinity: node selector and required node affinity."""

from collections.abc import Mapping

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodClass


def check(pod: PodClass, name: str, labels: Mapping[str, str]) -> Verdict | None:
    """Return why *pod* may not run on the node called *name* with *labels*, or None."""
    spec = pod.pod.spec
    for key, value in spec.node_selector.items():
        if labels.get(key) != value:
            return Verdict(reason=Reason.NODE_AFFINITY, detail=f"{key}={value}")
    affinity = spec.affinity.node_affinity if spec.affinity else None
    if affinity is None or affinity.required is None or affinity.required.matches(name, labels):
        return None
    return Verdict(reason=Reason.NODE_AFFINITY)
