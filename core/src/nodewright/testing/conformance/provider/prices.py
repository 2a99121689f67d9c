"""Prices of a provider. `PricingConformance` has the rules for price models."""

import math
from datetime import timedelta

import pytest

from nodewright.api import Capability, NodeGroup, PricingModel, Provider
from nodewright.testing.clock import EPOCH
from nodewright.testing.conformance.provider.base import ProviderSuite, declares, template_of


@declares(Capability.PRICES)
class PricesConformance(ProviderSuite):
    """`Provider.pricing`."""

    def test_there_are_prices_after_a_refresh(self, provider: Provider) -> None:
        """A provider that declares prices has a `PricingModel` once it is refreshed."""
        pricing = provider.pricing()
        assert isinstance(pricing, PricingModel), f"pricing() is {pricing!r}"

    def test_a_node_of_the_group_has_a_price(self, provider: Provider, group: NodeGroup) -> None:
        """A node like the group's template costs more than nothing for an hour."""
        pricing, template = provider.pricing(), group.template()
        if pricing is None or template is None:
            pytest.skip(f"group {group.id} has no template, or its provider no prices")
        price = pricing.node_price(template, EPOCH, EPOCH + timedelta(hours=1))
        assert price is not None, f"the price of a node of group {group.id} is not known"
        assert 0 < price < math.inf, f"the price of a node of group {group.id} for an hour is {price}"

    def test_prices_of_all_groups_are_numbers(self, provider: Provider) -> None:
        """A node of any group has a price that is a number and not negative, or None if it is not known."""
        pricing = provider.pricing()
        for group in provider.groups():
            template = template_of(group)
            if pricing is None or template is None:
                continue
            price = pricing.node_price(template, EPOCH, EPOCH + timedelta(hours=1))
            assert price is None or 0 <= price < math.inf, (
                f"the price of a node of group {group.id} for an hour is {price}: tell None if it is not known"
            )
