"""Prices that a configuration names: an entry point, a line of YAML, and a fault that stays its own."""

from datetime import timedelta

from nodewright.config.document import load
from nodewright.plugins import Faults, Registry
from nodewright.runtime.strategies import Strategies
from nodewright.testing import EPOCH, SteppedClock, a_template

PRICES = """
    from nodewright.api import PluginConfig, Prices

    class RackConfig(PluginConfig):
        cpu_hour: float

    class Rack(Prices):
        '''Prices of our own racks.'''

        Config = RackConfig
        currency = "EUR"

        def node_price(self, template, start, end):
            return self.config.cpu_hour * template.capacity["cpu"] / 1000

        def pod_price(self, pod, start, end):
            raise LookupError("no list of pods")
"""
CONFIGURATION = """
apiVersion: nodewright.dev/v1
kind: Autoscaler
providers: [{fake: {url: http://127.0.0.1:1}}]
prices: [{rack: {cpuHour: 0.02}}]
"""


def test_a_price_model_is_named_in_yaml(install) -> None:
    install("acme", {"prices/rack": "Rack"}, PRICES)
    registry, faults = Registry(), Faults(SteppedClock())
    loaded = load(CONFIGURATION, classes=registry)
    (rack,) = Strategies(registry, faults).prices(loaded.settings)
    hour = (EPOCH, EPOCH + timedelta(hours=1))
    assert (rack.currency, rack.node_price(a_template(cpu="4"), *hour)) == ("EUR", 0.08)
    assert faults.counts == {}


def test_a_price_model_that_raises_knows_no_price(install) -> None:
    install("acme", {"prices/rack": "Rack"}, PRICES)
    faults = Faults(SteppedClock())
    (rack,) = Strategies(Registry(), faults).prices(load(CONFIGURATION).settings)
    assert rack.pod_price(None, EPOCH, EPOCH) is None  # type: ignore[arg-type]
    assert faults.counts == {("rack", "pod_price"): 1}


def test_a_price_model_that_can_not_be_made_is_left_out(install) -> None:
    faults = Faults(SteppedClock())
    assert Strategies(Registry(), faults).prices(load(CONFIGURATION).settings) == []
    assert faults.counts == {("rack", "load"): 1}
