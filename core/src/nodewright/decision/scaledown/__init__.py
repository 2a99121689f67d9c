"""How to shrink: which nodes are unneeded, which may go, and how those under way get on."""

from nodewright.decision.consolidation.plan import Consolidation, consolidate, waiting
from nodewright.decision.consolidation.replacements import Replacements, follow_replacements, spoken_for
from nodewright.decision.scaledown.plan import ScaleDownPlan, plan_scale_down
from nodewright.decision.scaledown.removal.leftovers import coming_back
from nodewright.decision.scaledown.removal.removals import RemovalPlan, plan_removals

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
