from datetime import timedelta

import pytest
from nodewright.api import NodeTemplate
from nodewright.testing import EPOCH, a_pod, a_template
from nodewright.testing.conformance import PricingConformance

from nodewright_my_plugin.prices import MyPlugin, MyPluginConfig

TWO_HOURS = timedelta(hours=2)


@pytest.fixture
def prices() -> MyPlugin:
    return MyPlugin(MyPluginConfig(currency="EUR", nodes={"c5.large": 0.061}))


# EDIT: one test for each thing that your prices promise.
def test_a_node_costs_what_the_contract_says(prices: MyPlugin) -> None:
    assert prices.node_price(a_template(instance_type="c5.large"), EPOCH, EPOCH + TWO_HOURS) == pytest.approx(0.122)


def test_a_node_that_is_not_in_the_contract_has_no_price_here(prices: MyPlugin) -> None:
    assert prices.node_price(a_template(instance_type="c5.huge"), EPOCH, EPOCH + TWO_HOURS) is None


def test_a_pod_costs_what_it_asks_for(prices: MyPlugin) -> None:
    assert prices.pod_price(a_pod(cpu="2", memory="1Gi"), EPOCH, EPOCH + TWO_HOURS) == pytest.approx(0.128)


class TestMyPlugin(PricingConformance):
    @pytest.fixture
    def model(self, prices: MyPlugin) -> MyPlugin:
        return prices

    @pytest.fixture
    def template(self) -> NodeTemplate:
        return a_template(instance_type="c5.large")
