"""The suites, run on strategies of the class that the plugin `UnderTest` of this pytest run names."""

import pytest
from nodewright.testing import a_node, a_pod, a_template, pods_like
from nodewright.testing.conformance import (
    DrainRuleConformance,
    EstimatorConformance,
    ExpanderConformance,
    HookConformance,
    PendingPodsProcessorConformance,
    PricingConformance,
    ScaleDownCandidatesProcessorConformance,
)

NOTES = {"nodewright.dev/note": "seen", "other.dev/note": "hidden"}


@pytest.fixture
def subject(request):
    """A new strategy, as from an empty configuration."""
    kind = request.config.pluginmanager.get_plugin("under-test").subject
    return kind(kind.Config()) if hasattr(kind, "Config") else kind()


class TestExpander(ExpanderConformance):
    @pytest.fixture
    def expander(self, subject):
        return subject


class TestEstimator(EstimatorConformance):
    @pytest.fixture
    def estimator(self, subject):
        return subject


class TestPendingPods(PendingPodsProcessorConformance):
    @pytest.fixture
    def processor(self, subject):
        return subject


class TestCandidates(ScaleDownCandidatesProcessorConformance):
    @pytest.fixture
    def processor(self, subject):
        return subject


class TestPricing(PricingConformance):
    @pytest.fixture
    def model(self, subject):
        return subject

    @pytest.fixture
    def template(self):
        return a_template(instance_type="m5.large", zone="eu-a")


class TestDrainRule(DrainRuleConformance):
    @pytest.fixture
    def rule(self, subject):
        return subject


class TestHooks(HookConformance):
    @pytest.fixture
    def plugin(self, subject):
        return subject


class TestOwnPods(TestPendingPods):
    @pytest.fixture
    def pods(self):
        return [pods_like(a_pod("my-own", annotations=NOTES), 2)]


class TestOwnNodes(TestCandidates):
    @pytest.fixture
    def nodes(self):
        return [a_node("my-own"), a_node("my-other")]


class TestOwnRunningPods(TestDrainRule):
    @pytest.fixture
    def pods(self):
        return [a_pod("my-own", annotations=NOTES, node="node-1")]
