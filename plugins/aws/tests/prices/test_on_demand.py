"""On-demand prices: the bundled table, and the price list of AWS."""

import json
import subprocess
import sys
from importlib.resources import files
from time import perf_counter

import pytest
from nodewright.api import AccessDeniedError
from nodewright_aws.prices.on_demand import PriceTable, bundled

from .recorded import RecordedAws, a_product, on_demand, prices_of
from .test_model import price_of


@pytest.mark.parametrize(
    ("region", "instance_type", "price"),
    [
        ("us-east-1", "m5.large", 0.096),
        ("us-east-1", "p5.48xlarge", 55.04),
        ("eu-west-1", "m5.large", 0.107),
        ("eu-central-1", "m6i.xlarge", 0.23),
        ("ap-southeast-2", "t3.large", 0.1056),
        ("us-gov-west-1", "m5.large", 0.121),
        ("cn-north-1", "c5.large", 0.739),
    ],
)
def test_the_table_knows_usual_types_in_usual_regions(region, instance_type, price) -> None:
    assert bundled().price(region, instance_type) == pytest.approx(price, rel=1e-3)


def test_what_nobody_noted_has_no_price() -> None:
    table = PriceTable(
        {"base": "a", "regions": {"a": {"prices": {"m5": {"large": 0.1}}}, "b": {"factors": {"m5": 1.5}}}}
    )
    assert table.price("b", "m5.large") == 0.15
    assert table.price("b", "m5.xlarge") is None
    assert table.price("b", "m6.large") is None
    assert table.price("c", "m5.large") is None
    assert table.price("b", "nonsense") is None


def test_the_table_is_small_and_read_at_once_when_it_is_needed_and_not_before() -> None:
    file = files("nodewright_aws.prices").joinpath("on-demand.json")
    assert len(file.read_bytes()) < 300_000
    bundled.cache_clear()
    best = min(_seconds_to_read() for _ in range(3))
    assert best < 0.03, f"reading the table took {best:.3f} s"
    script = "import sys, nodewright_aws.prices.on_demand as t; assert not t.bundled.cache_info().misses"
    subprocess.run([sys.executable, "-c", f"{script}; assert 'boto3' not in sys.modules"], check=True, timeout=30)


def _seconds_to_read():
    bundled.cache_clear()
    began = perf_counter()
    bundled()
    return perf_counter() - began


def test_every_entry_of_the_table_says_when_and_where_it_was_noted() -> None:
    content = json.loads(files("nodewright_aws.prices").joinpath("on-demand.json").read_text("utf-8"))
    assert len(content["regions"]) > 30
    for region, entry in content["regions"].items():
        assert entry["date"] >= "2024", region
        assert entry["source"], region
        most = 3 if not region.startswith("cn-") else 25
        assert all(0.3 < factor < most for factor in entry.get("factors", {}).values()), region


def test_the_price_list_is_asked_for_the_types_in_use_and_beats_the_table(aws, clock) -> None:
    aws.listed = {"eu-west-1": {"m5.large": 0.5, "c5.large": 0.4}}
    prices = prices_of(aws, clock, onDemand="api")
    prices.refresh([on_demand("m5.large"), on_demand("m5.large", "eu-west-1b"), on_demand("r5.large")])
    assert price_of(prices, on_demand("m5.large")) == 0.5
    assert price_of(prices, on_demand("r5.large")) == pytest.approx(0.141, rel=1e-3), "the list has none, the table has"
    assert price_of(prices, on_demand("c5.large")) is None, "it is not in use"
    (request,) = aws.asked("get_products")
    assert request["ServiceCode"] == "AmazonEC2"
    assert {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "eu-west-1"} in request["Filters"]
    assert {"Type": "ANY_OF", "Field": "instanceType", "Value": "m5.large,r5.large"} in request["Filters"]


def test_a_request_names_no_more_types_than_a_filter_can_hold(aws, clock) -> None:
    prices_of(aws, clock, onDemand="api").refresh([on_demand(f"u7in-{number}tb.224xlarge") for number in range(95)])
    values = [each["Filters"][-1]["Value"] for each in aws.asked("get_products")]
    assert len(values) == 3
    assert max(map(len, values)) <= 1024


def test_the_price_list_is_read_again_after_hours(aws, clock) -> None:
    prices = prices_of(aws, clock, onDemand="api", onDemandInterval="6h")
    for _ in range(49):
        prices.refresh([on_demand("m5.large")])
        clock.advance(900)
    assert len(aws.calls) == 3


def test_local_zones_have_prices_of_their_own(clock) -> None:
    aws = RecordedAws("us-west-2")
    aws.listed = {"us-west-2": {"t3.medium": 0.0416}, "us-west-2-lax-1": {"t3.medium": 0.05}}
    prices = prices_of(aws, clock, "us-west-2", onDemand="api")
    here, there = on_demand("t3.medium", "us-west-2a"), on_demand("t3.medium", "us-west-2-lax-1a")
    prices.refresh([here, there])
    assert price_of(prices, here) == 0.0416
    assert price_of(prices, there) == 0.05


def test_without_leave_to_read_the_list_the_table_holds(aws, clock, caplog) -> None:
    aws.faults["get_products"] = AccessDeniedError("not allowed")
    prices = prices_of(aws, clock, onDemand="api")
    prices.refresh([on_demand("m5.large")])
    prices.refresh([on_demand("m5.large")])
    assert price_of(prices, on_demand("m5.large")) == pytest.approx(0.107, rel=1e-3)
    assert len(aws.calls) == 1
    assert caplog.text.count("allow pricing:GetProducts, or set prices.onDemand to table") == 1


@pytest.mark.parametrize(
    "product",
    [
        a_product("m5.large", 0.0),
        a_product("m5.large", 9.9, tenancy="Dedicated"),
        a_product("m5.large", 9.9, tenancy="Host"),
        a_product("m5.large", 9.9, unit="Quantity"),
        a_product("m5.large", 9.9, market="CapacityBlock"),
        a_product("m5.large", 9.9, currency="CNY"),
        a_product("m5.large", 9.9) | {"terms": {"Reserved": {}}},
    ],
    ids=["nothing", "dedicated", "host", "no hours", "capacity block", "other currency", "reserved"],
)
def test_products_that_are_no_shared_machine_by_the_hour_are_passed_over(aws, clock, product) -> None:
    aws.listed = {"eu-west-1": {"m5.large": product}}
    prices = prices_of(aws, clock, onDemand="api")
    prices.refresh([on_demand("m5.large")])
    assert price_of(prices, on_demand("m5.large")) == pytest.approx(0.107, rel=1e-3)


def test_bare_metal_is_listed_as_dedicated_and_counts_all_the_same(aws, clock) -> None:
    bare = a_product("m5.metal", 5.2, tenancy="Dedicated", family="Compute Instance (bare metal)")
    aws.listed = {"eu-west-1": {"m5.metal": bare}}
    prices = prices_of(aws, clock, onDemand="api")
    prices.refresh([on_demand("m5.metal")])
    assert price_of(prices, on_demand("m5.metal")) == 5.2


def test_china_is_billed_in_its_own_currency(clock) -> None:
    aws = RecordedAws("cn-north-1")
    aws.listed = {"cn-north-1": {"c5.large": a_product("c5.large", 0.7, currency="CNY")}}
    prices = prices_of(aws, clock, "cn-north-1", onDemand="api")
    pool = on_demand("c5.large", "cn-north-1a")
    prices.refresh([pool])
    assert prices.model().currency == "CNY"
    assert price_of(prices, pool) == 0.7


def test_prices_can_be_told_in_another_currency(aws, clock) -> None:
    overlay = [{"instanceType": "c5.*", "price": 0.08}]
    prices = prices_of(aws, clock, currency="EUR", exchangeRate=0.9, overlay=overlay)
    prices.refresh([on_demand("m5.large"), on_demand("c5.large")])
    assert prices.model().currency == "EUR"
    assert price_of(prices, on_demand("m5.large")) == pytest.approx(0.107 * 0.9, rel=1e-3)
    assert price_of(prices, on_demand("c5.large")) == 0.08


def test_types_without_a_price_are_told_once(aws, clock, caplog) -> None:
    prices = prices_of(aws, clock)
    for _ in range(2):
        prices.refresh([on_demand("m5.large"), on_demand("m99.large"), on_demand("m98.large")])
    assert prices.unpriced == {"m98.large", "m99.large"}
    assert (
        caplog.text.count("no price is known for 2 of 3 instance types in use in eu-west-1 (m98.large, m99.large)") == 1
    )
    prices_of(aws, clock, onDemand="off").refresh([on_demand("m5.large")])
    assert "1 of 1 instance types" in caplog.text
