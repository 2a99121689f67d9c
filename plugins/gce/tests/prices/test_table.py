"""The bundled table."""

import json
import subprocess
import sys
from importlib.resources import files
from time import perf_counter

import pytest
from nodewright_gce.prices.rates import Kind
from nodewright_gce.prices.table import FILE, bundled

from .billing import a_machine, a_pool, price_of, prices_of

CONTENT = files("nodewright_gce.prices").joinpath(FILE)


@pytest.mark.parametrize(
    ("region", "machine", "price"),
    [
        ("us-central1", ("e2-standard-4", 4, 16), 0.13402),
        ("us-central1", ("n1-standard-4", 4, 15), 0.1900),
        ("us-central1", ("n2-standard-8", 8, 32), 0.3885),
        ("us-central1", ("n2d-highcpu-224", 224, 224), 6.9861),
        ("us-central1", ("c2-standard-60", 60, 240), 3.1321),
        ("us-central1", ("m2-ultramem-416", 416, 11776), 84.22),
        ("us-central1", ("f1-micro", 1, 0.6), 0.0076),
        ("asia-northeast1", ("n2-standard-4", 4, 16), 4 * 0.040618 + 16 * 0.005419),
        ("asia-south1", ("e2-standard-2", 2, 8), 2 * 0.0261993 + 8 * 0.00351072),
    ],
)
def test_the_table_has_the_published_prices_of_usual_machines(google, clock, region, machine, price) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool(machine[0], f"{region}-a")])
    assert price_of(prices, a_machine(*machine, region=region), zones=[f"{region}-a"]) == pytest.approx(price, rel=2e-3)


@pytest.mark.scenario(41)
def test_an_e2_is_cheaper_than_an_n1_spot_goes_by_the_template_and_an_unknown_family_has_no_price(
    google, clock
) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool("e2-standard-4"), a_pool("n1-standard-4"), a_pool("x9-standard-4")])
    e2, n1 = a_machine("e2-standard-4", 4, 16), a_machine("n1-standard-4", 4, 15)
    assert price_of(prices, e2) == pytest.approx(0.134, abs=1e-3)
    assert price_of(prices, n1) == pytest.approx(0.19, abs=1e-3)
    spot = price_of(prices, a_machine("e2-standard-4", 4, 16, spot=True))
    assert 0 < spot < 0.7 * price_of(prices, e2)
    assert price_of(prices, a_machine("x9-standard-4", 4, 16)) is None


def test_spot_is_cheaper_than_on_demand_wherever_both_are_known() -> None:
    content = json.loads(CONTENT.read_text("utf-8"))
    for region in content["regions"]:
        for item, rate in bundled().rates(region).items():
            assert rate.on_demand is not None, (region, item)
            assert rate.spot is None or 0 < rate.spot < rate.on_demand, (region, item)


def test_every_region_says_who_told_its_rates_and_when() -> None:
    content = json.loads(CONTENT.read_text("utf-8"))
    assert len(content["regions"]) > 40
    for region, entry in content["regions"].items():
        assert all(date > "2025" for date in entry["sources"].values()), region
        assert max(entry["sources"].values()) >= "2026", region
        rates = [rate for item, rate in bundled().rates(region).items() if item.kind is Kind.CORE]
        assert rates, region
        assert all(0.01 < rate.on_demand < 0.15 for rate in rates), region


def test_what_nobody_noted_is_unknown() -> None:
    assert bundled().rates("moon-east1") == {}


def test_the_table_is_small_and_read_at_once_when_it_is_needed_and_not_before() -> None:
    assert len(CONTENT.read_bytes()) < 60_000
    best = min(_seconds_to_read() for _ in range(3))
    assert best < 0.03, f"reading the table took {best:.3f} s"
    script = "import nodewright_gce.prices.table as t; assert not t.bundled.cache_info().misses"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=30)


def _seconds_to_read():
    bundled.cache_clear()
    began = perf_counter()
    bundled()
    return perf_counter() - began
