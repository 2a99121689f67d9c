"""Expanders choose by the prices of AWS."""

from dataclasses import replace

import pytest
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.strategies.price import Price
from nodewright.testing import EPOCH, a_group, a_pod
from nodewright.testing.conformance.prices import PricingConformance
from nodewright.testing.worlds import a_policy, a_world
from nodewright_least_cost.expander import LeastCost

from .recorded import HOUR, a_spot_price, on_demand, prices_of, spot
from .test_model import a_template_of


class TestPricesOfAws(PricingConformance):
    @pytest.fixture
    def model(self, aws, clock):
        aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
        prices = prices_of(aws, clock, overlay=[{"perNode": 0.01}])
        prices.refresh([spot("m5.large"), on_demand("m5.xlarge")])
        return prices.model()

    @pytest.fixture
    def template(self):
        return a_template_of(spot("m5.large"), on_demand("m5.xlarge"))


@pytest.fixture(params=["price", "least-cost"])
def expander(request):
    kind = {"price": Price, "least-cost": LeastCost}[request.param]
    return {request.param: kind(kind.Config())}


def grown(prices, expander, **groups):
    """Which group grows for a pod that any of *groups*, pools by name, would serve."""
    every = {pool for pools in groups.values() for pool in pools}
    prices.refresh(every)
    model = prices.model()
    templates = {name: a_template_of(*pools, cpu="2", memory="8Gi") for name, pools in groups.items()}
    facts = [
        a_group(name, provider="aws", template=template, price=model.node_price(template, EPOCH, EPOCH + HOUR))
        for name, template in templates.items()
    ]
    world = replace(a_world(groups=facts, pods=[a_pod(cpu="1", memory="1Gi")]), pricing={"aws": model})
    decision, _, _ = decide(world, Memory(), a_policy(expanders=expander), EPOCH + HOUR)
    return {grow.group for grow in decision.grow}


def test_the_cheaper_type_grows(aws, clock, expander) -> None:
    assert grown(prices_of(aws, clock), expander, m=[on_demand("m5.large")], r=[on_demand("r5.large")]) == {"m"}


def test_spot_grows_while_it_is_cheaper(aws, clock, expander) -> None:
    groups = {"on-demand": [on_demand("m5.large")], "spot": [spot("m5.large")]}
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    assert grown(prices_of(aws, clock), expander, **groups) == {"spot"}
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.12)]]
    assert grown(prices_of(aws, clock), expander, **groups) == {"on-demand"}


def test_a_savings_plan_turns_the_choice(aws, clock, expander) -> None:
    groups = {"m": [on_demand("m5.large")], "r": [on_demand("r5.large")]}
    overlay = [{"instanceType": "r5.*", "lifecycle": "on-demand", "factor": 0.6}]
    assert grown(prices_of(aws, clock, overlay=overlay), expander, **groups) == {"r"}


def test_a_licence_for_each_node_turns_the_choice(aws, clock, expander) -> None:
    groups = {"m": [on_demand("m5.large")], "r": [on_demand("r5.large")]}
    assert grown(prices_of(aws, clock, overlay=[{"instanceType": "m5.*", "perNode": 0.5}]), expander, **groups) == {"r"}


def test_a_group_without_a_price_takes_no_part(aws, clock, expander) -> None:
    groups = {"known": [on_demand("r5.large")], "unknown": [spot("m5.large")]}
    assert grown(prices_of(aws, clock), expander, **groups) == {"known"}


def test_without_any_price_a_group_grows_all_the_same(aws, clock, expander) -> None:
    groups = {"one": [on_demand("m99.large")], "other": [on_demand("m98.large")]}
    assert len(grown(prices_of(aws, clock), expander, **groups)) == 1
