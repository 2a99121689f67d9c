"""Node classes: nodes that no constraint can tell apart, but for their names and their free room."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodewright.objects import Taint
from nodewright.objects.node import HOSTNAME


@dataclass(frozen=True, kw_only=True)
class NodeMarks:
    """What constraints can see of a node."""

    labels: Mapping[str, str]
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeClass:
    """A class of nodes. Interned: two nodes of one class have the identical object."""

    #: Counts up in the order of interning.
    index: int
    #: The labels that any constraint looks at, but for the hostname.
    labels: Mapping[str, str]
    #: Taints that repel pods, without PreferNoSchedule.
    taints: tuple[Taint, ...]
    unschedulable: bool


class NodeClasses:
    """Interns node classes. A label distinguishes classes only after a constraint has looked at it."""

    def __init__(self) -> None:
        self.known: list[NodeClass] = []
        self._observed: set[str] = set()
        self._by_key: dict[tuple[object, ...], NodeClass] = {}

    def observe(self, labels: Iterable[str]) -> bool:
        """Note that a constraint looks at *labels*. Return whether any is new: nodes must be classified again then."""
        fresh = set(labels) - self._observed - {HOSTNAME}
        self._observed |= fresh
        return bool(fresh)

    def of(self, marks: NodeMarks) -> NodeClass:
        """Return the class of a node with these marks."""
        shared = {key: value for key, value in marks.labels.items() if key in self._observed}
        repelling = tuple(taint for taint in marks.taints if taint.effect in ("NoSchedule", "NoExecute"))
        key = (tuple(sorted(shared.items())), repelling, marks.unschedulable)
        known = self._by_key.get(key)
        if known is None:
            known = NodeClass(index=len(self.known), labels=shared, taints=repelling, unschedulable=marks.unschedulable)
            self._by_key[key] = known
            self.known.append(known)
        return known
