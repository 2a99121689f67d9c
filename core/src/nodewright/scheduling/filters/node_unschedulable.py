"""Filter NodeUnschedulable: cordoned nodes take only pods that tolerate it."""

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import NodeClass, PodClass
from nodewright.objects import Taint
from nodewright.objects.node import UNSCHEDULABLE

_CORDON = Taint(key=UNSCHEDULABLE, effect="NoSchedule")


def check(pod: PodClass, node: NodeClass) -> Verdict | None:
    """Return why *pod* may not run on *node*, or None."""
    if not node.unschedulable or any(toleration.tolerates(_CORDON) for toleration in pod.pod.spec.tolerations):
        return None
    return Verdict(reason=Reason.NODE_UNSCHEDULABLE)
