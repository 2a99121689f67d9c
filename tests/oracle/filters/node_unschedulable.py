"""A cordoned node takes only pods that tolerate it."""

from nodewright.objects import Pod, Taint

from ..snapshot import NodeInfo, Snapshot
from .taint_toleration import tolerates

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if info.node.spec.unschedulable and not tolerates(pod, _CORDON):
        return ("node(s) were unschedulable",)
    return ()
