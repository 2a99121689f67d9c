"""Removable nodes: those that could go, by the simulation."""

from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.config.model import DisruptionReason
from nodewright.objects import Node
from nodewright.scheduling.relocation import Hints


@dataclass(frozen=True, kw_only=True)
class Removable:
    """A node whose pods all have a place elsewhere, even if all other removable nodes go as well."""

    node: Node
    group: GroupFacts
    #: Pods that have to find another node.
    move: tuple[PodRow, ...]
    #: Pods that were placed on it in this decision, which would have to find another node as well.
    guests: tuple[str, ...] = ()
    #: Why it could go.
    verdict: Verdict
    #: Where its pods went in the simulation, and how many.
    hints: Hints = ()
    #: Whether it is in service; if not, it has another waiting time.
    ready: bool = True
    #: Whether disruption budgets let only some of its pods leave at a time.
    risky: bool = False
    #: Pods that have to complete before it can go.
    waits: tuple[PodRow, ...] = ()
    #: Whether cheaper nodes have taken its place; then it need not have been unneeded for some time.
    replaced: bool = False

    @property
    def reason(self) -> DisruptionReason:
        """Why it is removed, in the words of disruption budgets."""
        if self.replaced:
            return "consolidation"
        if not self.ready:
            return "unready"
        return "underused" if self.drains else "empty"

    @property
    def drains(self) -> bool:
        """Whether pods have to move."""
        return bool(self.move or self.guests)
