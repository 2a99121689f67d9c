"""How to shrink: which nodes are unneeded, which may go, and how those under way get on."""

from nodewright.scaledown.plan import ScaleDownPlan, plan_scale_down
from nodewright.scaledown.removals import RemovalPlan, plan_removals

__all__ = ["RemovalPlan", "ScaleDownPlan", "plan_removals", "plan_scale_down"]
