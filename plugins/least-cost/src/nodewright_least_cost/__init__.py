"""An expander for Nodewright that buys the cheapest set of nodes over all groups."""

__version__ = "0.1.0"
