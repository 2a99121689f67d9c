"""Candidates of consolidation: needed nodes that cheaper ones could replace."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.disruption import disruption
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A node whose pods could move."""

    node: Node
    group: GroupFacts
    #: What it costs an hour.
    price: float
    move: tuple[PodRow, ...]
    #: What it costs to move them.
    disruption: int

    def removable(self, detail: str) -> Removable:
        """Return the node as one that others have replaced."""
        verdict = Verdict(reason=Reason.CONSOLIDATED, detail=detail)
        return Removable(node=self.node, group=self.group, move=self.move, verdict=verdict, replaced=True)


def has_price(group: GroupFacts) -> bool:
    """Tell whether it is known what a node of *group* costs."""
    return group.hourly_price is not None and isfinite(group.hourly_price) and group.hourly_price >= 0


def candidate(node: Node, group: GroupFacts, drainability: Drainability) -> Candidate | str:
    """Return a *node* of *group*, which has a price, as a candidate; or the reason that keeps it."""
    drainable = drainability.of(node.name)
    if drainable.blocker is not None:
        return str(drainable.blocker)
    if drainable.waits:
        return f"{drainable.waits[0].key} has to complete before"
    assert group.hourly_price is not None, "only groups with a price take part"
    return Candidate(
        node=node,
        group=group,
        price=group.hourly_price,
        move=drainable.move,
        disruption=disruption(drainable.move),
    )


def pod_sets(rows: Sequence[PodRow], guests: Sequence[PodSet] = ()) -> list[PodSet]:
    """Return pods as sets of equal ones, with the *guests* that a simulation put beside them. Large pods come first."""
    together: dict[int, tuple[PodRow, list[str]]] = {}
    for row in rows:
        together.setdefault(row.pod_class.index, (row, []))[1].append(row.key)
    sets = [PodSet(pod=row.pod_class.pod, keys=tuple(keys)) for row, keys in together.values()]
    return sorted([*sets, *guests], key=_size, reverse=True)


def _size(pods: PodSet) -> tuple[int, int]:
    requests = pods.pod.requests
    return requests.get("cpu", 0), requests.get("memory", 0)
