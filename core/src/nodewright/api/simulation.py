"""The simulated cluster, as strategies see it."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.rule import PlacementRule
from nodewright.api.verdict import Verdict
from nodewright.objects import Resources


class Simulation(Protocol):
    """A copy of the cluster in which pods can be placed and nodes added. For the loop's thread only."""

    def fork(self) -> AbstractContextManager["Simulation"]:
        """Work on a copy within a ``with`` block; what happens there is undone at its end."""
        ...

    def add_nodes(self, group: GroupFacts, count: int) -> Sequence[str]:
        """Add *count* empty nodes like the group's template, with their DaemonSet pods; return their names."""
        ...

    def place(self, pods: PodSet, *, on: Sequence[str] | None = None) -> Mapping[str, str]:
        """Put as many of *pods* as fit onto nodes *on* (by default all), first fit in node order.

        Returns the node by pod key. Pods that did not fit are not in it.
        """
        ...

    def why_not(self, pods: PodSet, node: str) -> Verdict | None:
        """Why a pod of *pods* does not fit on *node* now; None if it does."""
        ...

    def rules(self, pods: PodSet) -> Sequence[PlacementRule]:
        """What *pods* require of other pods now: hard topology spread, required affinity and anti-affinity."""
        ...

    def free(self, node: str) -> Resources:
        """What is still free on *node*."""
        ...
