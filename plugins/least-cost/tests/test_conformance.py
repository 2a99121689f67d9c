"""Whether the core can trust the expander."""

import pytest
from nodewright.testing.conformance import ExpanderConformance
from nodewright_least_cost.expander import LeastCost, LeastCostConfig


class TestLeastCost(ExpanderConformance):
    @pytest.fixture
    def expander(self):
        return LeastCost(LeastCostConfig())
