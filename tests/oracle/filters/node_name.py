"""A pod that names its node runs on no other."""

from nodewright.objects import Pod

from ..snapshot import NodeInfo, Snapshot


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    if pod.spec.node_name and pod.spec.node_name != info.node.name:
        return ("node(s) didn't match the requested node name",)
    return ()
