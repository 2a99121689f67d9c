"""What users know better than AWS."""

import pytest
from nodewright_aws.config import PriceSettings
from pydantic import ValidationError

from .recorded import a_spot_price, on_demand, prices_of, spot
from .test_model import price_of

LISTED = 0.107


@pytest.mark.parametrize(
    ("overlay", "price"),
    [
        ([{"instanceType": "m5.*", "factor": 0.5}], LISTED / 2),
        ([{"price": 0.09}], 0.09),
        ([{"perNode": 0.03}], LISTED + 0.03),
        ([{"factor": 0.5, "perNode": 0.03}], LISTED / 2 + 0.03),
        ([{"price": 0, "perNode": 0.03}], 0.03),
        ([{"instanceType": "c5.*", "price": 1}, {"instanceType": "m5.*", "price": 2}, {"price": 3}], 2),
        ([{"zone": "eu-west-1b", "price": 1}], LISTED),
        ([{"zone": "eu-west-1[ab]", "price": 1}], 1),
        ([{"region": "us-*", "price": 1}], LISTED),
        ([{"region": "eu-*", "price": 1}], 1),
        ([{"lifecycle": "spot", "price": 1}], LISTED),
        ([{"lifecycle": "on-demand", "price": 1}], 1),
    ],
)
def test_the_first_rule_that_matches_a_pool_counts(aws, clock, overlay, price) -> None:
    prices = prices_of(aws, clock, overlay=overlay)
    prices.refresh([on_demand("m5.large")])
    assert price_of(prices, on_demand("m5.large")) == pytest.approx(price, rel=1e-4)


def test_discounts_and_licences_also_hold_for_spot(aws, clock) -> None:
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices = prices_of(aws, clock, overlay=[{"lifecycle": "on-demand", "factor": 0.1}, {"perNode": 0.01}])
    prices.refresh([spot("m5.large")])
    assert price_of(prices, spot("m5.large")) == pytest.approx(0.05)


def test_a_type_that_nobody_knows_costs_what_the_user_says(aws, clock) -> None:
    prices = prices_of(aws, clock, overlay=[{"instanceType": "m99.large", "price": 0.2}, {"factor": 0.5, "perNode": 1}])
    prices.refresh([on_demand("m99.large"), on_demand("m98.large")])
    assert price_of(prices, on_demand("m99.large")) == 0.2
    assert price_of(prices, on_demand("m98.large")) is None, "half of what is not known is not known"
    assert prices.unpriced == {"m98.large"}


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"overlay": [{"price": 1, "factor": 0.5}]}, "price and factor exclude each other"),
        ({"overlay": [{"instanceType": "m5.*"}]}, "the rule changes no price: write price, factor or perNode"),
        ({"overlay": [{"price": -1}]}, "greater than or equal to 0"),
        ({"overlay": [{"factor": 0}]}, "greater than 0"),
        ({"overlay": [{"lifecycle": "cheap", "price": 1}]}, "'on-demand' or 'spot'"),
        ({"overlay": [{"type": "m5.*", "price": 1}]}, "Extra inputs are not permitted"),
        ({"currency": "EUR"}, "currency and exchangeRate go together"),
        ({"exchangeRate": 0.9}, "currency and exchangeRate go together"),
        ({"currency": "euro", "exchangeRate": 0.9}, "match pattern"),
        ({"spotInterval": 30}, "write a duration such as 10m or 1h30m, not 30"),
        ({"spotInterval": "10s"}, "greater than or equal to 1 minute"),
        ({"spotRatio": 1.5}, "less than or equal to 1"),
        ({"onDemand": "guess"}, "'table', 'api' or 'off'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_the_reason(settings, complaint) -> None:
    with pytest.raises(ValidationError) as refusal:
        PriceSettings.model_validate(settings)
    assert complaint in str(refusal.value)
