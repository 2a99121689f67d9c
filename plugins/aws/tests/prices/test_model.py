"""What the core is told."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.testing import EPOCH, a_pod, a_template
from nodewright_aws.pools import POOLS_ANNOTATION, join
from nodewright_aws.prices.on_demand import bundled

from .recorded import HOUR, INFOS, a_spot_price, on_demand, prices_of, spot


def a_template_of(*pools, **fields):
    return replace(a_template(**fields), annotations={POOLS_ANNOTATION: join(pools)})


def price_of(prices, *pools):
    """What a node costs for an hour that comes from one of *pools*."""
    return prices.model().node_price(a_template_of(*pools), EPOCH, EPOCH + HOUR)


def test_before_the_first_refresh_nothing_is_known_and_nothing_is_asked(aws, clock) -> None:
    prices = prices_of(aws, clock)
    assert price_of(prices, on_demand("m5.large")) is None
    assert prices.model().pod_price(a_pod(), EPOCH, EPOCH + HOUR) is None
    assert not aws.calls


def test_prices_are_in_proportion_to_time(aws, clock) -> None:
    prices = prices_of(aws, clock)
    prices.refresh([on_demand("m5.large")])
    template = a_template_of(on_demand("m5.large"))
    hour = prices.model().node_price(template, EPOCH, EPOCH + HOUR)
    assert prices.model().node_price(template, EPOCH, EPOCH + timedelta(minutes=15)) == pytest.approx(hour / 4)


@pytest.mark.parametrize(
    ("labels", "price"),
    [
        ({}, 0.107),
        ({"eks.amazonaws.com/capacityType": "ON_DEMAND"}, 0.107),
        ({"eks.amazonaws.com/capacityType": "SPOT"}, 0.04),
        ({"karpenter.sh/capacity-type": "spot"}, 0.04),
        ({"node.kubernetes.io/lifecycle": "spot"}, 0.04),
        ({"lifecycle": "Ec2Spot"}, 0.04),
    ],
)
def test_a_template_that_lists_no_pools_is_priced_by_its_labels(aws, clock, labels, price) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices = prices_of(aws, clock)
    prices.refresh([spot("m5.large"), on_demand("m5.large")])
    template = a_template(instance_type="m5.large", zone="eu-west-1a", labels=labels)
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == pytest.approx(price, rel=1e-3)


def test_a_spot_node_in_an_unknown_zone_costs_what_the_zones_cost_on_average(aws, clock) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04), a_spot_price("m5.large", "eu-west-1b", 0.06)]]
    prices = prices_of(aws, clock)
    prices.refresh([spot("m5.large"), spot("m5.large", "eu-west-1b")])
    template = a_template(instance_type="m5.large", labels={"eks.amazonaws.com/capacityType": "SPOT"})
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("mixed", "price"), [("highest", 0.107), ("lowest", 0.04), ("mean", (0.107 + 0.04 + 0.06) / 3)]
)
def test_a_group_of_several_pools_costs_what_the_user_reckons_with(aws, clock, mixed, price) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04), a_spot_price("m5.large", "eu-west-1b", 0.06)]]
    prices = prices_of(aws, clock, mixed=mixed)
    pools = [on_demand("m5.large"), spot("m5.large"), spot("m5.large", "eu-west-1b"), spot("m5.large", "eu-west-1c")]
    prices.refresh(pools)
    assert price_of(prices, *pools) == pytest.approx(price, rel=1e-4), "the pool without a price does not count"


def test_a_model_stays_as_it_was_when_prices_change(aws, clock) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices = prices_of(aws, clock)
    prices.refresh([spot("m5.large")])
    model = prices.model()
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.09)]]
    clock.advance(600)
    prices.refresh([spot("m5.large")])
    template = a_template_of(spot("m5.large"))
    assert model.node_price(template, EPOCH, EPOCH + HOUR) == 0.04
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == 0.09


def test_pods_cost_their_largest_share_of_the_machine_on_which_that_is_cheapest(aws, clock) -> None:
    prices = prices_of(aws, clock)
    prices.refresh([on_demand("m5.large"), on_demand("c5.large"), on_demand("g4dn.xlarge")])
    m5, c5, g4 = (bundled().price("eu-west-1", name) for name in ("m5.large", "c5.large", "g4dn.xlarge"))

    def price(**requests):
        return prices.model().pod_price(a_pod(**requests), EPOCH, EPOCH + HOUR)

    assert price(cpu="1", memory="1Gi") == pytest.approx(c5 / 2), "half of a c5 by CPU"
    assert price(cpu="100m", memory="3Gi") == pytest.approx(m5 * 3 / 8), "three quarters of a c5 would be dearer"
    assert price(cpu="100m", requests={"nvidia.com/gpu": "1"}) == pytest.approx(g4), "only one type has any"
    assert price(cpu="100m", memory="1Gi", requests={"example.com/seat": "1"}) == price(cpu="100m", memory="1Gi")
    assert price(cpu="64") is None, "no type in use is so large"
    assert price(cpu="0", memory="0") == 0


@pytest.mark.parametrize("order", [1, -1])
def test_pods_cost_what_the_cheapest_pool_of_a_type_does(aws, clock, order) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices = prices_of(aws, clock)
    prices.refresh([on_demand("m5.large"), spot("m5.large")][::order])
    assert prices.model().pod_price(a_pod(cpu="2"), EPOCH, EPOCH + HOUR) == pytest.approx(0.04)


def test_the_model_is_made_anew_only_when_something_changed(aws, clock) -> None:
    infos = {}
    prices = prices_of(aws, clock, infos=infos.get)
    prices.refresh([on_demand("m5.large")])
    before = prices.model()
    prices.refresh([on_demand("m5.large")])
    assert prices.model() is before
    assert before.pod_price(a_pod(), EPOCH, EPOCH + HOUR) is None
    infos["m5.large"] = INFOS["m5.large"]
    prices.refresh([on_demand("m5.large")])
    assert prices.model().pod_price(a_pod(), EPOCH, EPOCH + HOUR) > 0, "by now it is known what the type has"
