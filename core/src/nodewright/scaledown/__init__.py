"""How to shrink: which nodes are unneeded, which may go, and how those under way get on."""

from nodewright.scaledown.consolidation import Consolidation, consolidate, waiting
from nodewright.scaledown.plan import ScaleDownPlan, plan_scale_down
from nodewright.scaledown.removals import RemovalPlan, plan_removals
from nodewright.scaledown.replacements import Replacements, follow_replacements, spoken_for

__all__ = [
    "Consolidation",
    "RemovalPlan",
    "Replacements",
    "ScaleDownPlan",
    "consolidate",
    "follow_replacements",
    "plan_removals",
    "plan_scale_down",
    "spoken_for",
    "waiting",
]
