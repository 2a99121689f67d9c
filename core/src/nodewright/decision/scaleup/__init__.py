"""How the cluster grows: the options of its groups, and the choice among them."""

from nodewright.decision.scaleup.plan import ScaleUp, ScaleUpPlan

__all__ = ["ScaleUp", "ScaleUpPlan"]
