"""Filter TaintToleration: a pod has to tolerate every taint that repels."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import NodeClass, PodClass
from nodewright.objects import untolerated


def check(pod: PodClass, node: NodeClass) -> Verdict | None:
    """Return why *pod* may not run on *node*, or None."""
    taint = untolerated(node.taints, pod.pod.spec.tolerations)
    return None if taint is None else Verdict(reason=Reason.TAINT, detail=str(taint))
