"""What users know better than Google."""

import pytest
from nodewright.testing import EPOCH, a_pod
from nodewright_gce.config.prices import PriceSettings
from nodewright_gce.prices.rates import Kind
from pydantic import ValidationError

from .billing import HOUR, a_machine, a_pool, listed, price_of, prices_of

LISTED = 4 * listed(Kind.CORE, "n2") + 16 * listed(Kind.MEMORY, "n2")


@pytest.mark.parametrize(
    ("overlay", "price"),
    [
        ([{"machineType": "n2-*", "factor": 0.5}], LISTED / 2),
        ([{"price": 0.09}], 0.09),
        ([{"perNode": 0.03}], LISTED + 0.03),
        ([{"factor": 0.5, "perNode": 0.03}], LISTED / 2 + 0.03),
        ([{"price": 0, "perNode": 0.03}], 0.03),
        ([{"machineType": "c2-*", "price": 1}, {"machineType": "n2-*", "price": 2}, {"price": 3}], 2),
        ([{"zone": "us-central1-b", "price": 1}], LISTED),
        ([{"zone": "us-central1-[ab]", "price": 1}], 1),
        ([{"region": "eu-*", "price": 1}], LISTED),
        ([{"region": "us-*", "price": 1}], 1),
        ([{"lifecycle": "spot", "price": 1}], LISTED),
        ([{"lifecycle": "on-demand", "price": 1}], 1),
    ],
)
def test_the_first_rule_that_matches_a_machine_counts(google, clock, overlay, price) -> None:
    prices = prices_of(google, clock, overlay=overlay)
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(price)


def test_a_regional_group_costs_the_mean_of_its_zones(google, clock) -> None:
    prices = prices_of(google, clock, overlay=[{"zone": "us-central1-b", "price": 1}])
    prices.refresh([a_pool()])
    zones = ["us-central1-a", "us-central1-b"]
    assert price_of(prices, a_machine(), zones=zones) == pytest.approx((LISTED + 1) / 2)


def test_a_type_that_nobody_knows_costs_what_the_user_says(google, clock) -> None:
    overlay = [{"machineType": "x9-large", "price": 0.2}, {"factor": 0.5, "perNode": 1}]
    prices = prices_of(google, clock, overlay=overlay)
    prices.refresh([a_pool("x9-large"), a_pool("x8-large")])
    assert price_of(prices, a_machine("x9-large")) == 0.2
    assert price_of(prices, a_machine("x8-large")) is None, "half of what is not known is not known"
    assert prices.unpriced == {"x8-large"}


def test_unknown_spot_prices_are_a_share_of_the_on_demand_price_if_the_user_says_so(google, clock) -> None:
    assert listed(Kind.GPU, "nvidia-tesla-t4", spot=True) is None
    machine = a_machine(spot=True, gpus={"nvidia-tesla-t4": 1})
    plain, estimated = prices_of(google, clock), prices_of(google, clock, spotRatio=0.4)
    for prices in (plain, estimated):
        prices.refresh([a_pool(spot=True)])
    assert price_of(plain, machine) is None
    known = price_of(plain, a_machine(spot=True))
    assert price_of(estimated, machine) == pytest.approx(known + 0.4 * 0.35)


def test_pods_are_charged_with_the_discount_and_in_the_currency_of_the_machines(google, clock) -> None:
    overlay = [{"machineType": "n2-*", "factor": 0.5}]
    prices = prices_of(google, clock, currency="EUR", exchangeRate=0.9, overlay=overlay)
    prices.refresh([a_pool()])
    price = prices.model().pod_price(a_pod(cpu="4", memory="16Gi"), EPOCH, EPOCH + HOUR)
    assert price == pytest.approx(LISTED * 0.5 * 0.9)


def test_prices_can_be_told_in_another_currency(google, clock) -> None:
    overlay = [{"machineType": "e2-*", "price": 0.08}]
    prices = prices_of(google, clock, currency="EUR", exchangeRate=0.9, overlay=overlay)
    prices.refresh([a_pool(), a_pool("e2-standard-4")])
    assert prices.model().currency == "EUR"
    assert price_of(prices, a_machine()) == pytest.approx(LISTED * 0.9)
    assert price_of(prices, a_machine("e2-standard-4")) == 0.08


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"overlay": [{"price": 1, "factor": 0.5}]}, "price and factor exclude each other"),
        ({"overlay": [{"machineType": "n2-*"}]}, "the rule changes no price: write price, factor or perNode"),
        ({"overlay": [{"price": -1}]}, "greater than or equal to 0"),
        ({"overlay": [{"factor": 0}]}, "greater than 0"),
        ({"overlay": [{"lifecycle": "cheap", "price": 1}]}, "'on-demand' or 'spot'"),
        ({"overlay": [{"instanceType": "n2-*", "price": 1}]}, "Extra inputs are not permitted"),
        ({"currency": "EUR"}, "currency and exchangeRate go together"),
        ({"exchangeRate": 0.9}, "currency and exchangeRate go together"),
        ({"currency": "euro", "exchangeRate": 0.9}, "match pattern"),
        ({"onDemandInterval": "10s"}, "greater than or equal to 10 minutes"),
        ({"spotRatio": 1.5}, "less than or equal to 1"),
        ({"onDemand": "guess"}, "'table', 'api' or 'off'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_the_reason(settings, complaint) -> None:
    with pytest.raises(ValidationError) as refusal:
        PriceSettings.model_validate(settings)
    assert complaint in str(refusal.value)
