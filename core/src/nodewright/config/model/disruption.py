"""How often, when and for what nodes may be taken away from those who work on them."""

from typing import Literal

from nodewright.config.model.base import Section
from nodewright.config.values import Count, Cron, Money, Names, NodeShare, PositiveDuration, TimeZone

#: What nodes are removed for: nothing would have to move; little would; they are not in service; others are cheaper.
DisruptionReason = Literal["empty", "underused", "unready", "consolidation"]


class Schedule(Section):
    """A window that opens again and again."""

    from_: Cron
    """When it opens: minute, hour, day of month, month, day of week, as in cron."""
    for_: PositiveDuration
    """How long it stays open."""
    time_zone: TimeZone = "UTC"
    """Where the clock hangs."""


class DisruptionBudget(Section):
    """Most nodes that are being removed at the same time, of some groups, for some reasons."""

    nodes: NodeShare
    """So many, or a part in per cent of the nodes of these groups, rounded up; 0 is none."""
    reasons: tuple[DisruptionReason, ...] = ()
    """What they are removed for; none named is all."""
    groups: Names = ()
    """Patterns for the names of groups; none named is all, each of them counted with the others."""
    schedule: Schedule | None = None
    """When the budget holds; always if this is not given."""


class Disruption(Section):
    """Limits on removals beyond Cluster Autoscaler's; all that hold at a time are kept."""

    budgets: tuple[DisruptionBudget, ...] = ()
    """How many nodes may be on their way out."""
    min_saving: Money = 0
    """A node with pods to be moved goes only if it costs at least so much an hour; 0 is no limit."""
    max_evictions_per_hour: Count = 0
    """Most pods that have to move for removals begun within an hour; 0 is no limit."""
