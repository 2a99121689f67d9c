"""The conformance suite of providers and their node groups, by theme."""

from nodewright.testing.conformance.provider.growth import GrowthConformance


class ProviderConformance(GrowthConformance):
    """All that the core relies on in a provider and its node groups."""


__all__ = ["GrowthConformance", "ProviderConformance"]
