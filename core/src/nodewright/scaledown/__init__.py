"""How to shrink: which nodes are unneeded, which may go, and how those under way get on."""

from nodewright.scaledown.consolidation.plan import Consolidation, consolidate, waiting
from nodewright.scaledown.consolidation.replacements import Replacements, follow_replacements, spoken_for
from nodewright.scaledown.plan import ScaleDownPlan, plan_scale_down
from nodewright.scaledown.removal.leftovers import coming_back
from nodewright.scaledown.removal.removals import RemovalPlan, plan_removals

__all__ = [
    "Consolidation",
    "RemovalPlan",
    "Replacements",
    "ScaleDownPlan",
    "coming_back",
    "consolidate",
    "follow_replacements",
    "plan_removals",
    "plan_scale_down",
    "spoken_for",
    "waiting",
]
