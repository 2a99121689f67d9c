"""How the table is written."""

import json

import pytest
from nodewright_gce.prices.listing import rates_of
from nodewright_gce.prices.rates import ANY_SERIES, Item, Kind, Rate
from nodewright_gce.prices.table import RateTable
from nodewright_gce.prices.writing import Source, main, read_rates, table_of

from .billing import REGION, an_entry

CORE = Item(Kind.CORE, "n2")


def a_source(name="a test", date="2026-08-03", **regions):
    return Source(name=name, date=date, regions={region.replace("_", "-"): rates for region, rates in regions.items()})


def test_a_rate_survives_the_table_to_four_digits() -> None:
    rates = {CORE: Rate(on_demand=0.0316114, spot=0.00765), Item(Kind.GPU, "nvidia-l4"): Rate(on_demand=0.56)}
    read = RateTable(table_of([a_source(us_east1=rates)])).rates("us-east1")
    assert read[CORE].on_demand == pytest.approx(0.0316114, rel=1e-4)
    assert read[CORE].spot == pytest.approx(0.00765, rel=1e-4)
    assert read[Item(Kind.GPU, "nvidia-l4")] == Rate(on_demand=pytest.approx(0.56))


def test_of_several_sources_the_last_that_has_a_rate_counts_and_all_are_named() -> None:
    gib = Item(Kind.MEMORY, "n2")
    first = a_source("one", "2025-03-02", us_east1={CORE: Rate(on_demand=0.1), gib: Rate(on_demand=0.01)})
    table = table_of([first, a_source("other", us_east1={CORE: Rate(on_demand=0.2)})])
    rates = RateTable(table).rates("us-east1")
    assert rates == {CORE: Rate(on_demand=pytest.approx(0.2)), gib: Rate(on_demand=pytest.approx(0.01))}
    assert table["regions"]["us-east1"]["sources"] == {"one": "2025-03-02", "other": "2026-08-03"}


def test_regions_that_no_source_has_stay_as_they_were() -> None:
    known = table_of([a_source(us_east1={CORE: Rate(on_demand=0.1)}, us_west1={CORE: Rate(on_demand=0.3)})])
    table = RateTable(table_of([a_source(us_east1={CORE: Rate(on_demand=0.2)})], known))
    assert table.rates("us-east1")[CORE].on_demand == pytest.approx(0.2)
    assert table.rates("us-west1")[CORE].on_demand == pytest.approx(0.3)


def test_two_shapes_of_a_series_tell_the_rates_of_cores_and_of_memory() -> None:
    prices = {"n2-highcpu-8": 8 * 0.03 + 8 * 0.004, "n2-highmem-8": 8 * 0.03 + 64 * 0.004}
    rates = rates_of(prices, {name: price / 4 for name, price in prices.items()})
    assert rates[CORE].on_demand == pytest.approx(0.03)
    assert rates[Item(Kind.MEMORY, "n2")].on_demand == pytest.approx(0.004)
    assert rates[CORE].spot == pytest.approx(0.03 / 4)


def test_one_shape_tells_the_sum_of_both_rates() -> None:
    rates = rates_of({"c2-standard-8": 0.4176}, {})
    core, gib = rates[Item(Kind.CORE, "c2")], rates[Item(Kind.MEMORY, "c2")]
    assert 8 * core.on_demand + 32 * gib.on_demand == pytest.approx(0.4176)
    assert core.spot is None


def test_what_a_type_costs_more_than_its_parts_is_the_price_of_its_gpu_and_local_ssds() -> None:
    prices = {
        "n2-highcpu-8": 8 * 0.03 + 8 * 0.004,
        "n2-highmem-8": 8 * 0.03 + 64 * 0.004,
        "c3d-standard-8": 0.36,
        "c3d-standard-8-lssd": 0.36 + 375 * 0.0001,
        "a2-ultragpu-1g": 12 * 0.03 + 170 * 0.004 + 375 * 0.0001 + 3.9,
    }
    rates = rates_of(prices, {})
    assert rates[Item(Kind.LOCAL_SSD, ANY_SERIES)].on_demand == pytest.approx(0.0001)
    assert rates[Item(Kind.GPU, "nvidia-a100-80gb")].on_demand == pytest.approx(3.9)
    assert rates[Item(Kind.CORE, "a2")].on_demand == pytest.approx(0.03)


def test_two_types_with_one_gpu_tell_its_price() -> None:
    rates = rates_of({"g2-standard-4": 0.56 + 0.147, "g2-standard-8": 0.56 + 0.294}, {})
    assert rates[Item(Kind.GPU, "nvidia-l4")].on_demand == pytest.approx(0.56)
    core, gib = rates[Item(Kind.CORE, "g2")].on_demand, rates[Item(Kind.MEMORY, "g2")].on_demand
    assert 4 * core + 16 * gib == pytest.approx(0.147)


@pytest.mark.parametrize("spot", [0.0, 0.4176, 0.5])
def test_spot_that_costs_nothing_or_no_less_is_a_mistake_of_the_listing(spot) -> None:
    assert rates_of({"c2-standard-8": 0.4176}, {"c2-standard-8": spot})[Item(Kind.CORE, "c2")].spot is None


def test_what_costs_nothing_is_left_out_of_the_listing() -> None:
    assert rates_of({"c4-standard-8": 0.4, "c4-standard-8-lssd": 0.4}, {}).keys() == {
        Item(Kind.CORE, "c4"),
        Item(Kind.MEMORY, "c4"),
    }


def test_rates_can_be_written_by_hand() -> None:
    source = read_rates({REGION: {"gpu": {"a": [0.35], "b": [0.5, 0.2]}}}, name="a page", date="2026-08-22")
    assert source.regions == {
        REGION: {Item(Kind.GPU, "a"): Rate(on_demand=0.35), Item(Kind.GPU, "b"): Rate(on_demand=0.5, spot=0.2)}
    }


def test_the_command_writes_the_table_from_saved_pages_of_the_catalogue(tmp_path) -> None:
    pages, out = tmp_path / "pages", tmp_path / "rates.json"
    pages.mkdir()
    for number, entry in enumerate(
        [
            an_entry("N2 Instance Core running in Americas", 0.031611, regions=["us-central1", "us-east1"]),
            an_entry("Nvidia L4 GPU running in Americas", 0.56),
        ]
    ):
        (pages / f"{number}.json").write_text(json.dumps({"skus": [entry], "nextPageToken": "next"}))
    main(["--out", str(out), "--catalogue", f"2026-11-20:{pages}"])
    assert json.loads(out.read_text()) == {
        "regions": {
            "us-central1": {
                "sources": {"Google": "2026-11-20"},
                "core": {"n2": [316110]},
                "gpu": {"nvidia-l4": [5600000]},
            },
            "us-east1": {"sources": {"Google": "2026-11-20"}, "core": {"n2": [316110]}},
        }
    }


def test_the_command_reads_listings_and_rates_and_keeps_what_it_knows(tmp_path) -> None:
    out, listing, rates = (tmp_path / name for name in ("rates.json", "listing.json", "hand.json"))
    out.write_text(json.dumps(table_of([a_source(us_west1={CORE: Rate(on_demand=0.3)})])))
    listing.write_text(json.dumps({REGION: {"on_demand": {"c2-standard-8": 0.4176}}}))
    rates.write_text(json.dumps({REGION: {"gpu": {"nvidia-tesla-t4": [0.35]}}}))
    main(["--out", str(out), "--listing", f"a list:2026-08-03:{listing}", "--rates", f"a page:2026-08-22:{rates}"])
    table = RateTable(json.loads(out.read_text()))
    assert {item.name for item in table.rates(REGION)} == {"c2", "nvidia-tesla-t4"}
    assert table.rates("us-west1")[CORE].on_demand == pytest.approx(0.3)
