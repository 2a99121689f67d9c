"""Whether the core can trust the built-in strategies."""

import pytest
from nodewright.strategies.add_returning_pods import AddReturningPods
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.clear_tpu_requests import ClearTpuRequests
from nodewright.strategies.filter_daemonset_pods import FilterDaemonSetPods
from nodewright.strategies.filter_expendable import FilterExpendable
from nodewright.strategies.filter_schedulable import FilterSchedulable
from nodewright.strategies.least_nodes import LeastNodes
from nodewright.strategies.least_waste import LeastWaste
from nodewright.strategies.most_pods import MostPods
from nodewright.strategies.price import Price
from nodewright.strategies.priority import Priority
from nodewright.strategies.random import Random
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
