"""How the cluster shrinks: which nodes are unneeded, which may go, and the next step of those that are going."""

from nodewright.decision.scaledown.plan import ScaleDown, ScaleDownPlan
from nodewright.decision.scaledown.removal.removals import RemovalPlan, advance_removals

__all__ = ["RemovalPlan", "ScaleDown", "ScaleDownPlan", "advance_removals"]
