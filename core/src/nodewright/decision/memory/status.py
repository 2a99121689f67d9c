"""The status: what Cluster Autoscaler's ConfigMap last said, and since when."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from nodewright.decision.memory.slices import Slice


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One thing that Cluster Autoscaler's status tells of a group or of the cluster."""

    status: str
    #: Since when it has been this one.
    since: datetime


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """All that the status tells of a group or of the cluster."""

    health: Condition
    scale_up: Condition
    scale_down: Condition


@dataclass(frozen=True, kw_only=True)
class StatusMemory(Slice):
    """What the status said last. Owned by `nodewright.explain.conditions`, at the end of a loop."""

    #: Of each group, and under the empty name of the cluster.
    conditions: dict[str, Conditions] = field(default_factory=dict)

    def noted(self, conditions: dict[str, Conditions]) -> Self:
        """Return the memory with these *conditions*; the same one if nothing changed."""
        return self if conditions == self.conditions else replace(self, conditions=conditions)
