"""How the table is written."""

import json

import pytest
from nodewright_aws.prices.on_demand import PriceTable
from nodewright_aws.prices.writing import Listing, main, read_api, read_libcloud, read_listing, table_of

from .recorded import RecordedAws

BASE = {
    "m5.large": 0.1,
    "m5.xlarge": 0.2,
    "m5.2xlarge": 0.4,
    "m5.4xlarge": 0.8,
    "m5.8xlarge": 1.6,
    "m5.metal": 5.0,
    "c5.large": 0.08,
    "p5.48xlarge": 55.0,
}


def listing(prices, **fields):
    return Listing(**{"date": "2026-07-20", "source": "a test", "prices": prices} | fields)


def written(exact=(), rough=(), known=None):
    exact = {"us-east-1": listing(BASE)} | dict(exact)
    return table_of(exact, dict(rough), known)


def test_families_whose_prices_go_together_are_one_factor_and_others_are_written_out() -> None:
    prices = {"m5.large": 0.12, "m5.xlarge": 0.24, "m5.metal": 6.0, "c5.large": 0.1, "x9.large": 3.0}
    content = written(exact={"eu-west-1": listing(prices)})
    entry = content["regions"]["eu-west-1"]
    assert entry["factors"] == {"m5": 1.2, "c5": 1.25}
    assert entry["prices"] == {"x9": {"large": 3.0}}
    assert {name: PriceTable(content).price("eu-west-1", name) for name in prices} == pytest.approx(prices)
    uneven = written(exact={"eu-west-1": listing(prices | {"m5.xlarge": 0.25})})["regions"]["eu-west-1"]
    assert uneven["prices"]["m5"] == {"large": 0.12, "metal": 6.0, "xlarge": 0.25}


def test_of_a_rough_listing_the_lowest_price_counts_that_several_sizes_agree_on() -> None:
    # Most prices are those of machines that are not shared, one is missing, one is too low by mistake.
    dear = {"m5.xlarge": 0.264, "m5.4xlarge": 1.056, "m5.8xlarge": 2.112}
    prices = {"m5.large": 0.12, "m5.2xlarge": 0.48, "m5.metal": 5.0, "c5.large": 0.0} | dear
    content = written(rough={"eu-west-1": listing(prices)})
    assert PriceTable(content).price("eu-west-1", "m5.xlarge") == 0.24
    assert PriceTable(content).price("eu-west-1", "c5.large") is None


def test_a_price_that_aws_changed_since_a_rough_listing_is_changed_everywhere() -> None:
    rough = {"us-east-1": listing({"p5.48xlarge": 98.0}), "eu-west-1": listing({"p5.48xlarge": 117.6})}
    content = written(rough=rough)
    assert PriceTable(content).price("us-east-1", "p5.48xlarge") == 55.0
    assert PriceTable(content).price("eu-west-1", "p5.48xlarge") == pytest.approx(66.0, rel=1e-3)


def test_an_exact_listing_beats_a_rough_one_and_other_regions_stay_as_they_were() -> None:
    rough = {"eu-west-1": listing({"m5.large": 0.5}), "eu-west-2": listing({"m5.large": 0.3})}
    known = written(rough=rough)
    content = table_of({"eu-west-1": listing({"m5.large": 0.11})}, {}, known)
    assert PriceTable(content).price("eu-west-1", "m5.large") == 0.11
    assert PriceTable(content).price("eu-west-2", "m5.large") == 0.3
    assert PriceTable(content).price("us-east-1", "m5.large") == 0.1


def test_listings_are_read_from_text_region_by_region() -> None:
    text = """prices = {
        "us-east-1": {
            // m5
            "m5.large": 0.096000, "m5.metal-24xl": 1.5,
        },
        "us-gov-west-1": {"t3.nano": 1}
    }"""
    assert read_listing(text, source="a test", date="2026-07-20") == {
        "us-east-1": listing({"m5.large": 0.096, "m5.metal-24xl": 1.5}),
        "us-gov-west-1": listing({"t3.nano": 1.0}),
    }


def test_libcloud_lists_regions_under_types() -> None:
    content = {"updated": 1740936978, "compute": {"ec2_linux": {"m5.large": {"eu-west-1": 0.107, "us-east-1": 0.096}}}}
    assert read_libcloud(content) == {
        "eu-west-1": listing({"m5.large": 0.107}, date="2025-03-02", source="libcloud"),
        "us-east-1": listing({"m5.large": 0.096}, date="2025-03-02", source="libcloud"),
    }


def test_the_price_list_api_is_asked_for_all_types_of_a_region() -> None:
    aws = RecordedAws()
    aws.listed = {"eu-west-1": {"m5.large": 0.107, "c5.large": 0.096}, "us-east-1": {"m5.large": 0.096}}
    listings = read_api(["eu-west-1"], lambda region: aws)
    assert {region: each.prices for region, each in listings.items()} == {"eu-west-1": aws.listed["eu-west-1"]}
    assert all(each["Field"] != "instanceType" for each in aws.asked("get_products")[0]["Filters"])


def test_the_command_writes_a_table_that_can_be_read(tmp_path) -> None:
    (tmp_path / "listing").write_text('"us-east-1": {"m5.large": 0.1}, "eu-west-1": {"m5.large": 0.12}')
    out = tmp_path / "table.json"
    main(["--out", str(out), "--source", "a test", "--listing", f"2026-07-20:{tmp_path / 'listing'}"])
    table = PriceTable(json.loads(out.read_text()))
    assert table.price("eu-west-1", "m5.large") == 0.12
