"""Whether the core can trust the fake provider's prices."""

import pytest
from nodewright.testing.conformance import PricingConformance


class TestFakePricing(PricingConformance):
    @pytest.fixture
    def model(self, provider):
        return provider.pricing()

    @pytest.fixture
    def template(self, groups):
        return groups["web"].template()
