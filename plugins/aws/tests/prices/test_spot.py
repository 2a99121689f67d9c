"""Spot prices."""

import pytest
from nodewright.api import AccessDeniedError, CloudUnavailableError, ThrottledError
from nodewright.testing import EPOCH

from .recorded import a_spot_price, on_demand, prices_of, spot
from .test_model import price_of


def test_the_newest_price_of_a_pool_counts_whatever_page_it_is_on(aws, clock) -> None:
    aws.spot = [
        [a_spot_price("m5.large", "eu-west-1a", 0.041, minutes_ago=300)],
        [],
        [
            a_spot_price("m5.large", "eu-west-1a", 0.038, minutes_ago=5, product="Linux/UNIX (Amazon VPC)"),
            a_spot_price("m5.large", "eu-west-1a", 0.040, minutes_ago=90),
            a_spot_price("m5.large", "eu-west-1b", 0.020),
        ],
    ]
    prices = prices_of(aws, clock)
    prices.refresh([spot("m5.large")])
    assert price_of(prices, spot("m5.large")) == 0.038
    assert price_of(prices, spot("m5.large", "eu-west-1b")) is None, "nobody asked for that pool"


def test_exactly_the_spot_pools_in_use_are_asked_for_as_of_now(aws, clock) -> None:
    prices_of(aws, clock).refresh([spot("m5.large"), spot("c5.large", "eu-west-1b"), on_demand("r5.large")])
    (request,) = aws.asked("describe_spot_price_history")
    assert request == {
        "InstanceTypes": ["c5.large", "m5.large"],
        "ProductDescriptions": ["Linux/UNIX", "Linux/UNIX (Amazon VPC)"],
        "Filters": [{"Name": "availability-zone", "Values": ["eu-west-1a", "eu-west-1b"]}],
        "StartTime": EPOCH,
    }


def test_many_types_are_asked_for_in_several_requests(aws, clock) -> None:
    prices_of(aws, clock).refresh([spot(f"m{number}.large") for number in range(250)])
    assert [len(each["InstanceTypes"]) for each in aws.asked("describe_spot_price_history")] == [100, 100, 50]


def test_without_spot_pools_nothing_is_asked(aws, clock) -> None:
    prices_of(aws, clock).refresh([on_demand("m5.large")])
    prices_of(aws, clock, spot="off").refresh([spot("m5.large")])
    assert not aws.calls


def test_prices_are_asked_for_again_once_in_an_interval(aws, clock) -> None:
    prices = prices_of(aws, clock, spotInterval="5m")
    for _ in range(61):
        prices.refresh([spot("m5.large")])
        clock.advance(10)
    assert len(aws.calls) == 3, "at the start, after five minutes and after ten"


def test_a_pool_that_comes_into_use_is_asked_for_at_once_and_alone(aws, clock) -> None:
    prices = prices_of(aws, clock)
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices.refresh([spot("m5.large")])
    aws.spot = [[a_spot_price("c5.large", "eu-west-1a", 0.03)]]
    clock.advance(10)
    prices.refresh([spot("m5.large"), spot("c5.large")])
    prices.refresh([spot("m5.large"), spot("c5.large")])
    assert [each["InstanceTypes"] for each in aws.asked("describe_spot_price_history")] == [["m5.large"], ["c5.large"]]
    assert price_of(prices, spot("m5.large")) == 0.04
    assert price_of(prices, spot("c5.large")) == 0.03


@pytest.mark.parametrize(
    ("fault", "wait"),
    [
        (CloudUnavailableError("no route"), 60),
        (ThrottledError("slow down", retry_after=120), 120),
        (AccessDeniedError("not allowed to ec2:DescribeSpotPriceHistory"), 300),
    ],
    ids=lambda value: type(value).__name__,
)
def test_after_a_fault_known_prices_stay_and_nobody_asks_for_a_while(aws, clock, caplog, fault, wait) -> None:
    prices = prices_of(aws, clock)
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices.refresh([spot("m5.large")])
    clock.advance(300)
    aws.faults["describe_spot_price_history"] = fault
    prices.refresh([spot("m5.large")])
    clock.advance(wait - 1)
    prices.refresh([spot("m5.large"), spot("c5.large")])
    assert price_of(prices, spot("m5.large")) == 0.04
    assert len(aws.calls) == 2
    clock.advance(1)
    prices.refresh([spot("m5.large")])
    assert len(aws.calls) == 3
    clock.advance(1000)
    aws.faults.clear()
    prices.refresh([spot("m5.large")])
    told = [record.getMessage() for record in caplog.records if "can't be read" in record.getMessage()]
    assert len(told) == 1, "the same trouble is told once"
    assert told[0].startswith(f"spot prices can't be read, so they stay as they were: {fault}")


def test_an_answer_that_makes_no_sense_is_trouble_like_any_other(aws, clock, caplog) -> None:
    aws.spot = [[{"InstanceType": "m5.large", "AvailabilityZone": "eu-west-1a", "SpotPrice": "n/a", "Timestamp": 0}]]
    prices = prices_of(aws, clock)
    prices.refresh([spot("m5.large")])
    prices.refresh([spot("m5.large")])
    assert price_of(prices, spot("m5.large")) is None
    assert "AWS' answer can't be parsed (ValueError: could not convert string to float: 'n/a')" in caplog.text
    assert len(aws.calls) == 1


def test_an_unknown_spot_price_is_a_part_of_the_price_on_demand_if_the_user_says_so(aws, clock) -> None:
    silent, guessing = prices_of(aws, clock), prices_of(aws, clock, spotRatio=0.5)
    for prices in (silent, guessing):
        prices.refresh([spot("m5.large")])
    assert price_of(silent, spot("m5.large")) is None
    assert price_of(guessing, spot("m5.large")) == pytest.approx(0.107 / 2, rel=1e-4)


def test_prices_of_pools_that_are_not_in_use_any_more_are_forgotten(aws, clock) -> None:
    prices = prices_of(aws, clock)
    aws.spot = [[a_spot_price("m5.large", "eu-west-1a", 0.04)]]
    prices.refresh([spot("m5.large")])
    prices.refresh([])
    assert price_of(prices, spot("m5.large")) is None
