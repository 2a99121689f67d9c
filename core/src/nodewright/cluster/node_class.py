"""Node classes: nodes that no constraint can tell apart, but for their names and their free room."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.objects import Taint
from nodewright.objects.node import HOSTNAME


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeClass:
    """One kind of node. Interned: two nodes of one kind have the identical class object."""

    #: Counts up in the order of interning.
    index: int
    labels: Mapping[str, str]
    #: Taints that repel; preferences are left out.
    taints: tuple[Taint, ...]
    unschedulable: bool


class NodeClasses:
    """Interns node classes."""

    def __init__(self) -> None:
        self.known: list[NodeClass] = []
        self._by_key: dict[tuple[object, ...], NodeClass] = {}

    def of(self, labels: Mapping[str, str], taints: tuple[Taint, ...], *, unschedulable: bool) -> NodeClass:
        """Return the class of a node with these marks; the hostname label is left out of it."""
        shared = {key: value for key, value in labels.items() if key != HOSTNAME}
        repelling = tuple(taint for taint in taints if taint.effect in ("NoSchedule", "NoExecute"))
        key = (tuple(sorted(shared.items())), repelling, unschedulable)
        known = self._by_key.get(key)
        if known is None:
            known = NodeClass(index=len(self.known), labels=shared, taints=repelling, unschedulable=unschedulable)
            self._by_key[key] = known
            self.known.append(known)
        return known
