"""Every hard taint of the node must be tolerated."""

from nodewright.objects import Node, Pod, Taint, Toleration

from ..snapshot import NodeInfo, Snapshot


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    return ("node(s) had untolerated taint(s)",) if repels(info.node, pod) else ()


def repels(node: Node, pod: Pod) -> bool:
    """Whether *node* has a hard taint that *pod* does not tolerate."""
    return any(taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod, taint) for taint in node.spec.taints)


def tolerates(pod: Pod, taint: Taint) -> bool:
    return any(_covers(toleration, taint) for toleration in pod.spec.tolerations)


def _covers(toleration: Toleration, taint: Taint) -> bool:
    """No effect means every effect, no key (with Exists) every key, no operator Equal."""
    if toleration.effect not in ("", taint.effect):
        return False
    if toleration.operator == "Exists":
        return toleration.key in ("", taint.key)
    return toleration.key == taint.key and toleration.value == taint.value
