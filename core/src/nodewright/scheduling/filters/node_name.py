"""Filter NodeName: a pod that names its node runs nowhere else."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodClass


def check(pod: PodClass, name: str) -> Verdict | None:
    """Return why *pod* may not run on the node called *name*, or None."""
    wanted = pod.pod.spec.node_name
    return Verdict(reason=Reason.NODE_NAME) if wanted and wanted != name else None
