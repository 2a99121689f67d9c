"""Metrics that a configuration's plugins hand over."""

import pytest
from nodewright.api import PluginConfig, Provider, ProviderContext
from nodewright.config.model import Settings
from nodewright.config.reference import Reference
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing.clock import SteppedClock
from prometheus_client import Counter

CALLS = Counter("shed_calls", "Calls of the shed.", registry=None)


class Dates:
    """Collects, and is of no class of the library's."""

    def collect(self):
        return []


class Shed(Provider):
    """Hands over what the test says."""

    def __init__(self, found):
        super().__init__(PluginConfig(), ProviderContext(clock=SteppedClock()))
        self.found = found

    def refresh(self):
        """Read nothing."""

    def groups(self):
        return ()

    def group_of(self, node):
        return None

    def collectors(self):
        return self.found


@pytest.fixture
def faults():
    return Faults(SteppedClock())


@pytest.fixture
def handed_over(faults, monkeypatch):
    def collectors(*found):
        sheds = iter([Shed(each) for each in found])
        monkeypatch.setattr(Registry, "create", lambda *_: next(sheds))
        strategies = Strategies(Registry(), faults)
        settings = Settings(providers=tuple(Reference(name="shed") for _ in found))
        strategies.providers(settings, ProviderContext(clock=SteppedClock()))
        return strategies.collectors()

    return collectors


def test_metrics_of_all_instances_are_handed_over(handed_over, faults) -> None:
    assert handed_over([CALLS], (CALLS, CALLS)) == {"shed": [CALLS, CALLS, CALLS]}
    assert faults.counts == {}


def test_whatever_collects_is_a_collector(handed_over, faults) -> None:
    dates = Dates()
    assert handed_over(iter([dates])) == {"shed": [dates]}
    assert faults.counts == {}


@pytest.mark.parametrize("found", [None, [CALLS, "shed_calls"], 5])
def test_a_plugin_that_hands_over_anything_else_has_no_metrics(found, handed_over, faults) -> None:
    assert handed_over(found, [CALLS]) == {"shed": [CALLS]}
    assert faults.counts == {("shed", "collectors"): 1}


@pytest.mark.parametrize("found", [None, CALLS])
def test_the_fault_says_that_collectors_are_missing(found, handed_over, faults) -> None:
    told = []
    faults.listen(told.append)
    handed_over(found)
    (fault,) = told
    assert fault.error.endswith("instead of a sequence of collectors")
