"""The health of the groups: what is on its way, what failed, and what is backed off."""

from nodewright.decision.health.assessment import Assessment, GroupHealth, assess
from nodewright.decision.health.orders import adopt_orders
from nodewright.decision.health.readiness import Readiness

__all__ = ["Assessment", "GroupHealth", "Readiness", "adopt_orders", "assess"]
