"""Filter TaintToleration: a pod has to tolerate every taint that repels."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodClass
from nodewright.objects import Taint, untolerated


def check(pod: PodClass, taints: tuple[Taint, ...]) -> Verdict | None:
    """Return which of *taints* keeps *pod* off a node, or None."""
    taint = untolerated(taints, pod.pod.spec.tolerations)
    return None if taint is None else Verdict(reason=Reason.TAINT, detail=str(taint))
