"""Whether the core can trust the built-in strategies."""

import pytest
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.expanders import LeastNodes, LeastWaste, MostPods, Random
from nodewright.strategies.price import Price
from nodewright.strategies.priority import Priority
from nodewright.strategies.processors import (
    AddReturningPods,
    ClearTpuRequests,
    FilterDaemonSetPods,
    FilterExpendable,
    FilterSchedulable,
)
from nodewright.testing.conformance import (
    DrainRuleConformance,
    EstimatorConformance,
    ExpanderConformance,
    PendingPodsProcessorConformance,
)
from nodewright.testing.worlds import built_in_drain_rules


class TestExpanders(ExpanderConformance):
    @pytest.fixture(params=[LeastNodes, LeastWaste, MostPods, Price, Priority, Random], ids=lambda kind: kind.__name__)
    def expander(self, request):
        return request.param(request.param.Config())


class TestPriorityByConfiguration(ExpanderConformance):
    @pytest.fixture
    def expander(self):
        return Priority(Priority.Config.model_validate({"priorities": {"10": [".*"], "50": ["spot", "small"]}}))


class TestBinpacking(EstimatorConformance):
    @pytest.fixture
    def estimator(self):
        return Binpacking(Binpacking.Config())


class TestPendingPods(PendingPodsProcessorConformance):
    @pytest.fixture(
        params=[AddReturningPods, ClearTpuRequests, FilterDaemonSetPods, FilterExpendable, FilterSchedulable],
        ids=lambda kind: kind.__name__,
    )
    def processor(self, request):
        return request.param(request.param.Config())


class TestDrainRules(DrainRuleConformance):
    @pytest.fixture(params=built_in_drain_rules().values(), ids=lambda rule: type(rule).__name__)
    def rule(self, request):
        return request.param
