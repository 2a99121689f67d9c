"""The billing catalogue as a source of prices."""

import pytest
from nodewright.api import AccessDeniedError, CloudUnavailableError, ThrottledError
from nodewright_gce.prices.rates import Kind

from .billing import a_machine, a_pool, an_entry, listed, price_of, prices_of

N2 = 4 * listed(Kind.CORE, "n2") + 16 * listed(Kind.MEMORY, "n2")


@pytest.fixture
def google(google):
    google.entries = [
        an_entry("N2 Instance Core running in Americas", 0.05),
        an_entry("N2 Instance Ram running in Americas", 0.005, unit="GiBy.h"),
        an_entry("Spot Preemptible N2 Instance Core running in Americas", 0.01, usage="Preemptible"),
        an_entry("Spot Preemptible N2 Instance Ram running in Americas", 0.001, usage="Preemptible", unit="GiBy.h"),
    ]
    return google


def test_the_table_asks_nobody(google, clock) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(N2)
    assert not google.asked


def test_the_catalogue_beats_the_table_which_has_what_the_catalogue_lacks(google, clock) -> None:
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool(), a_pool("e2-standard-4")])
    assert price_of(prices, a_machine()) == pytest.approx(4 * 0.05 + 16 * 0.005)
    assert price_of(prices, a_machine(spot=True)) == pytest.approx(4 * 0.01 + 16 * 0.001)
    assert price_of(prices, a_machine("e2-standard-4")) == pytest.approx(0.134, abs=1e-3)
    assert google.asked == ["USD"]


def test_the_table_has_the_half_of_a_rate_that_the_catalogue_lacks(google, clock) -> None:
    google.entries = google.entries[2:]
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool(), a_pool(spot=True)])
    assert price_of(prices, a_machine()) == pytest.approx(N2)
    assert price_of(prices, a_machine(spot=True)) == pytest.approx(4 * 0.01 + 16 * 0.001)


def test_the_catalogue_is_read_again_after_hours(google, clock) -> None:
    prices = prices_of(google, clock, onDemand="api", onDemandInterval="6h")
    for _ in range(20):
        prices.refresh([a_pool()])
        clock.advance(900)
    assert len(google.asked) == 1
    google.entries = [an_entry("N2 Instance Core running in Americas", 1.0)]
    clock.advance(2 * 3600)
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(4 + 16 * listed(Kind.MEMORY, "n2"))


def test_nothing_is_asked_while_no_group_is_in_use(google, clock) -> None:
    prices_of(google, clock, onDemand="api").refresh([])
    assert not google.asked


def test_without_leave_to_read_the_catalogue_the_table_holds_and_the_log_says_so_once(google, clock, caplog) -> None:
    google.fault = AccessDeniedError("not allowed")
    prices = prices_of(google, clock, onDemand="api")
    for _ in range(2):
        prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(N2)
    assert len(google.asked) == 1
    clock.advance(24 * 3600)
    prices.refresh([a_pool()])
    assert len(google.asked) == 2
    assert caplog.text.count("enable the Cloud Billing API in the project, or set prices.onDemand to table") == 1


def test_a_catalogue_that_is_away_for_a_while_is_asked_again_in_a_minute(google, clock, caplog) -> None:
    caplog.set_level("INFO")
    google.fault = CloudUnavailableError("503")
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool()])
    google.fault = None
    clock.advance(90)
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(4 * 0.05 + 16 * 0.005)
    assert "can be read again" in caplog.text


def test_a_catalogue_that_asks_for_patience_gets_it(google, clock) -> None:
    google.fault = ThrottledError("slow down", retry_after=600)
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool()])
    google.fault = None
    clock.advance(500)
    prices.refresh([a_pool()])
    assert len(google.asked) == 1
    clock.advance(200)
    prices.refresh([a_pool()])
    assert len(google.asked) == 2


def test_types_with_other_gpus_have_the_rates_of_their_own_series(google, clock) -> None:
    google.entries = [
        an_entry("A3Plus Instance Core running in Iowa", 0.04),
        an_entry("A3Plus Instance Ram running in Iowa", 0.003, unit="GiBy.h"),
        an_entry("Nvidia H100 80GB Mega GPU running in Iowa", 9.0),
    ]
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool("a3-megagpu-8g-new")])
    machine = a_machine("a3-megagpu-8g-new", 208, 1872, gpus={"nvidia-h100-mega-80gb": 8})
    assert price_of(prices, machine) == pytest.approx(208 * 0.04 + 1872 * 0.003 + 8 * 9)


def test_an_earlier_catalogue_stays_while_it_cannot_be_read_again(google, clock) -> None:
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool()])
    google.fault = CloudUnavailableError("503")
    clock.advance(24 * 3600)
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(4 * 0.05 + 16 * 0.005)


def test_without_list_prices_only_the_overlay_tells(google, clock) -> None:
    prices = prices_of(google, clock, onDemand="off", overlay=[{"machineType": "n2-*", "price": 0.2}])
    prices.refresh([a_pool(), a_pool("e2-standard-4")])
    assert price_of(prices, a_machine()) == 0.2
    assert price_of(prices, a_machine("e2-standard-4")) is None
    assert prices.unpriced == {"e2-standard-4"}


def test_types_without_a_price_are_told_once(google, clock, caplog) -> None:
    prices = prices_of(google, clock)
    for zone in ("us-central1-a", "us-central1-b"):
        prices.refresh([a_pool(), a_pool("x9-large", zone), a_pool("x8-large")])
    assert prices.unpriced == {"x8-large", "x9-large"}
    assert caplog.text.count("no price is known for 2 of 3 machine types in use (x8-large, x9-large)") == 1


def test_a_catalogue_of_another_form_is_told_and_the_table_holds(google, clock, caplog) -> None:
    google.entries[0]["pricingInfo"][0]["pricingExpression"]["tieredRates"][0]["unitPrice"]["units"] = "many"
    prices = prices_of(google, clock, onDemand="api")
    prices.refresh([a_pool()])
    assert price_of(prices, a_machine()) == pytest.approx(N2)
    assert "can't be parsed (ValueError" in caplog.text
