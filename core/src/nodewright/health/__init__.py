"""How the groups are: what is on its way, what failed, and what is left alone for a while."""

from nodewright.health.assessment import Assessment, GroupHealth, assess
from nodewright.health.orders import adopt_orders

__all__ = ["Assessment", "GroupHealth", "adopt_orders", "assess"]
