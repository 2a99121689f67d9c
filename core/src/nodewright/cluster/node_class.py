"""Node classes: nodes that no constraint can tell apart, but for their names and their free room."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.objects import Taint

HOSTNAME = "kubernetes.io/hostname"


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeClass:
    """One kind of node. Interned: two nodes of one kind have the identical class object."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool


class NodeClasses:
    """Interns node classes."""

    def __init__(self) -> None:
        self._classes: dict[tuple[object, ...], NodeClass] = {}

    def of(self, labels: Mapping[str, str], taints: tuple[Taint, ...], *, unschedulable: bool) -> NodeClass:
        """Return the class of a node with these marks; the hostname label is left out of it."""
        shared = {key: value for key, value in labels.items() if key != HOSTNAME}
        # PreferNoSchedule taints (our own deletion candidates among them) never keep a pod off a node.
        repelling = tuple(taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute"))
        key = (tuple(sorted(shared.items())), repelling, unschedulable)
        known = self._classes.get(key)
        if known is None:
            known = NodeClass(labels=shared, taints=repelling, unschedulable=unschedulable)
            self._classes[key] = known
        return known
