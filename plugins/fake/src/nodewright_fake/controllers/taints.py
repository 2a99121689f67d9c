"""Taints of nodes and tolerations of pods, read from the JSON of objects."""

from collections.abc import Iterable
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Object

NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
DISK_PRESSURE = "node.kubernetes.io/disk-pressure"
MEMORY_PRESSURE = "node.kubernetes.io/memory-pressure"
PID_PRESSURE = "node.kubernetes.io/pid-pressure"
NETWORK_UNAVAILABLE = "node.kubernetes.io/network-unavailable"


@dataclass(frozen=True)
class NodeTaint:
    """A mark on a node."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True)
class PodToleration:
    """A toleration of a pod; an empty key or effect stands for any."""

    key: str
    exists: bool
    value: str
    effect: str
    #: How long the pod stays on a node with a NoExecute taint; None for ever.
    seconds: int | None = None

    def covers(self, taint: NodeTaint) -> bool:
        """Return whether the pod puts up with *taint*."""
        if self.effect not in ("", taint.effect) or self.key not in ("", taint.key):
            return False
        return self.exists or (bool(self.key) and self.value == taint.value)


def read_taint(taint: Object) -> NodeTaint:
    """Read an entry of a node's ``spec.taints``."""
    return NodeTaint(taint.get("key") or "", taint.get("value") or "", taint.get("effect") or "")


def read_toleration(toleration: Object) -> PodToleration:
    """Read an entry of a pod's ``spec.tolerations``."""
    return PodToleration(
        key=toleration.get("key") or "",
        exists=toleration.get("operator") == "Exists",
        value=toleration.get("value") or "",
        effect=toleration.get("effect") or "",
        seconds=toleration.get("tolerationSeconds"),
    )


def is_covered(taint: NodeTaint, tolerations: Iterable[PodToleration]) -> bool:
    """Return whether any of *tolerations* covers *taint*."""
    return any(toleration.covers(taint) for toleration in tolerations)
