"""Conformance suites: whether the autoscaler can trust a plugin, test by test.

A subclass in a plugin's own tests overrides one fixture::

    class TestShed(ProviderConformance):
        @pytest.fixture
        def cloud(self):
            with MyShed() as cloud:
                yield cloud

Needs pytest: ``pip install './core[conformance]'``, in the folder of Nodewright.
"""

from nodewright.api.attribute_docs import show_attributes
from nodewright.testing.conformance.cloud import Ability, Cloud, ExpectedTemplate
from nodewright.testing.conformance.drain_rules import DrainRuleConformance
from nodewright.testing.conformance.estimators import EstimatorConformance
from nodewright.testing.conformance.expanders import ExpanderConformance
from nodewright.testing.conformance.hooks import HookConformance
from nodewright.testing.conformance.prices import PricingConformance
from nodewright.testing.conformance.processors import (
    PendingPodsProcessorConformance,
    ScaleDownCandidatesProcessorConformance,
)
from nodewright.testing.conformance.provider import ProviderConformance

__all__ = [
    "Ability",
    "Cloud",
    "DrainRuleConformance",
    "EstimatorConformance",
    "ExpanderConformance",
    "ExpectedTemplate",
    "HookConformance",
    "PendingPodsProcessorConformance",
    "PricingConformance",
    "ProviderConformance",
    "ScaleDownCandidatesProcessorConformance",
]

show_attributes(vars(), __all__)
