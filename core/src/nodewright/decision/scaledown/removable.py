"""Removable nodes: those that nobody would miss, as the simulation found them."""

from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.config.model import DisruptionReason
from nodewright.objects import Node
from nodewright.scheduling.relocation import Hints


@dataclass(frozen=True, kw_only=True)
class Removable:
    """A node whose pods all have a place elsewhere, even if all other removable nodes go, too."""

    node: Node
    group: GroupFacts
    #: Pods that have to find another node.
    move: tuple[PodRow, ...]
    #: Pods that were placed on it in this decision, and would have to find another one, too.
    guests: tuple[str, ...] = ()
    #: Why it could go.
    verdict: Verdict
    #: Where its pods went in the simulation, and how many.
    hints: Hints = ()
    #: Whether it is in service; if not, another waiting time holds.
    ready: bool = True
    #: Whether disruption budgets let only some of its pods leave at a time.
    risky: bool = False
    #: Pods that it has to wait for until they complete.
    waits: tuple[PodRow, ...] = ()
    #: Whether cheaper nodes have taken its place: it need not have been unneeded for some time.
    replaced: bool = False

    @property
    def reason(self) -> DisruptionReason:
        """What it is removed for, in the words of disruption budgets."""
        if self.replaced:
            return "consolidation"
        if not self.ready:
            return "unready"
        return "underused" if self.drains else "empty"

    @property
    def drains(self) -> bool:
        """Whether pods have to move."""
        return bool(self.move or self.guests)
