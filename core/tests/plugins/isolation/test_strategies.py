"""Whether the core can trust strategies in processes of their own as it trusts them in its own."""

from collections.abc import Iterator

import pytest
from nodewright.api import Plugin
from nodewright.plugins import Registry
from nodewright.testing.conformance import (
    DrainRuleConformance,
    EstimatorConformance,
    ExpanderConformance,
    PendingPodsProcessorConformance,
)


@pytest.fixture(scope="module")
def started() -> Iterator[dict[tuple[str, str], Plugin]]:
    """Plugins by kind and name: these need no process for each test."""
    made: dict[tuple[str, str], Plugin] = {}
    yield made
    for plugin in made.values():
        plugin.close()


@pytest.fixture
def shared(started):
    def find(kind, name, config=None):
        if (kind, name) not in started:
            started[kind, name] = Registry().create_apart(kind, name, config or {})
        return started[kind, name]

    return find


class TestExpanders(ExpanderConformance):
    @pytest.fixture(params=["random", "near-data"])
    def expander(self, request, shared):
        return shared("expanders", request.param, {"zones": ["eu-b"]} if request.param == "near-data" else None)


class TestBinpacking(EstimatorConformance):
    @pytest.fixture
    def estimator(self, shared):
        return shared("estimators", "binpacking")


class TestPendingPods(PendingPodsProcessorConformance):
    @pytest.fixture
    def processor(self, shared):
        return shared("processors", "filter-schedulable")


class TestDrainRules(DrainRuleConformance):
    @pytest.fixture
    def rule(self, shared):
        return shared("drain_rules", "terminal")
