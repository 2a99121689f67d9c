"""Simulation: the cluster as strategies see it, and its rules about which pods may be near each other."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.template import NodeTemplate
from nodewright.api.verdict import Verdict
from nodewright.objects import Pod, Resources
from nodewright.objects.frozen import freeze_fields


class RuleKind(StrEnum):
    """What a rule asks for."""

    #: Domains differ by no more than `PlacementRule.max_skew` selected pods.
    SPREAD = "Spread"
    #: No selected pod in the domain.
    APART = "Apart"
    #: A selected pod in the domain; while there is none anywhere, a pod that is selected itself may be the first.
    TOGETHER = "Together"


@dataclass(frozen=True, kw_only=True)
class PlacementRule:
    """What a pod requires of other pods in the domains of a topology key."""

    kind: RuleKind
    #: The topology key: a node label, whose values are the domains.
    key: str
    #: Whether the rule is about pods like this one.
    selects: Callable[[Pod], bool]
    #: Selected pods by domain. For spread: every domain with a node that counts is in it, and no other.
    counts: Mapping[str, int] = field(default_factory=dict)
    #: For spread: how many more a domain may have than the one with fewest.
    max_skew: int = 1
    #: For spread: with fewer domains than these, the fewest count as zero.
    min_domains: int = 1
    #: For spread: whether a new node would count.
    covers: Callable[[NodeTemplate], bool] = lambda template: True

    def __post_init__(self) -> None:
        freeze_fields(self, "counts")


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
