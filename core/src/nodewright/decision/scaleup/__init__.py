"""How to grow: options of the groups, and the choice among them."""

from nodewright.decision.scaleup.plan import ScaleUpPlan, plan_scale_up

__all__ = ["ScaleUpPlan", "plan_scale_up"]
