"""The node must have enough of everything that the pod asks for; what it doesn't ask for may be overdrawn."""

from collections.abc import Iterable

from nodewright.objects import Pod

from ..snapshot import NodeInfo, Snapshot

_FIRST = ("cpu", "memory", "ephemeral-storage")


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    allocatable = info.node.allocatable
    requests = pod.requests
    pods = ("Too many pods",) if len(info.pods) + 1 > allocatable.get("pods", 0) else ()
    short = [
        name
        for name in _in_order(requests)
        if requests[name] > 0 and requests[name] > allocatable.get(name, 0) - info.used[name]
    ]
    return (*pods, *(f"Insufficient {name}" for name in short))


def _in_order(names: Iterable[str]) -> list[str]:
    """The well-known resources, then the others by name."""
    others = sorted(set(names) - {"pods", *_FIRST})
    return [name for name in (*_FIRST, *others) if name in names]
