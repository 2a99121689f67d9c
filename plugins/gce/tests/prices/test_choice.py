"""Expanders choose by the prices of Google."""

from dataclasses import replace

import pytest
from nodewright.decision.decide import decide
from nodewright.decision.memory import Memory
from nodewright.strategies.price import Price
from nodewright.testing import EPOCH, a_group, a_pod
from nodewright.testing.conformance.prices import PricingConformance
from nodewright.testing.worlds import a_policy, a_world
from nodewright_least_cost.expander import LeastCost

from .billing import HOUR, a_machine, a_pool, a_template_of, prices_of


class TestPricesOfGoogle(PricingConformance):
    @pytest.fixture
    def model(self, google, clock):
        prices = prices_of(google, clock, overlay=[{"perNode": 0.01}])
        prices.refresh([a_pool(spot=True), a_pool("n1-standard-4")])
        return prices.model()

    @pytest.fixture
    def template(self):
        return a_template_of(a_machine(spot=True), a_machine("n1-standard-4", 4, 15))


@pytest.fixture(params=["price", "least-cost"])
def expander(request):
    kind = {"price": Price, "least-cost": LeastCost}[request.param]
    return {request.param: kind(kind.Config())}


def grown(prices, expander, **groups):
    """Which group grows for a pod that any of *groups*, machines by name, would serve."""
    prices.refresh([a_pool(machine.machine_type, spot=machine.spot) for machine in groups.values()])
    model = prices.model()
    templates = {
        name: replace(a_template_of(machine), capacity=a_group().template.capacity) for name, machine in groups.items()
    }
    facts = [
        a_group(name, provider="gce", template=template, price=model.node_price(template, EPOCH, EPOCH + HOUR))
        for name, template in templates.items()
    ]
    world = replace(a_world(groups=facts, pods=[a_pod(cpu="1", memory="1Gi")]), pricing={"gce": model})
    decision, _, _ = decide(world, Memory(), a_policy(expanders=expander), EPOCH + HOUR)
    return {grow.group for grow in decision.grow}


def test_the_cheaper_series_grows(google, clock, expander) -> None:
    groups = {"e2": a_machine("e2-standard-4"), "n2": a_machine()}
    assert grown(prices_of(google, clock), expander, **groups) == {"e2"}


def test_spot_grows_while_it_is_cheaper(google, clock, expander) -> None:
    groups = {"spot": a_machine(spot=True), "on-demand": a_machine()}
    assert grown(prices_of(google, clock), expander, **groups) == {"spot"}


def test_a_commitment_turns_the_choice(google, clock, expander) -> None:
    groups = {"e2": a_machine("e2-standard-4"), "n2": a_machine()}
    overlay = [{"machineType": "n2-*", "lifecycle": "on-demand", "factor": 0.5}]
    assert grown(prices_of(google, clock, overlay=overlay), expander, **groups) == {"n2"}


def test_a_group_without_a_price_takes_no_part(google, clock, expander) -> None:
    groups = {"known": a_machine(), "unknown": a_machine("x9-standard-4")}
    assert grown(prices_of(google, clock), expander, **groups) == {"known"}
