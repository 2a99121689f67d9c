"""What the core is told."""

from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.testing import EPOCH, a_pod, a_template
from nodewright_gce.machine_types.hardware import HARDWARE_ANNOTATION, write
from nodewright_gce.prices.rates import ANY_SERIES, Kind

from .billing import HOUR, ZONE, a_machine, a_pool, a_template_of, listed, price_of, prices_of

CORE, GIB = listed(Kind.CORE, "n2"), listed(Kind.MEMORY, "n2")
N2 = 4 * CORE + 16 * GIB


@pytest.fixture
def prices(google, clock):
    prices = prices_of(google, clock)
    prices.refresh([a_pool(), a_pool(spot=True), a_pool("e2-medium"), a_pool("c4-standard-8-lssd")])
    return prices


def test_before_the_first_refresh_nothing_is_known_and_nothing_is_asked(google, clock) -> None:
    prices = prices_of(google, clock, onDemand="api")
    assert price_of(prices, a_machine()) is None
    assert prices.model().pod_price(a_pod(), EPOCH, EPOCH + HOUR) is None
    assert not google.asked


def test_prices_are_in_proportion_to_time(prices) -> None:
    template = a_template_of(a_machine())
    assert prices.model().node_price(template, EPOCH, EPOCH + timedelta(minutes=15)) == pytest.approx(N2 / 4)


def test_a_machine_costs_what_its_cores_and_memory_do(prices) -> None:
    assert price_of(prices, a_machine()) == pytest.approx(N2)
    spot = 4 * listed(Kind.CORE, "n2", spot=True) + 16 * listed(Kind.MEMORY, "n2", spot=True)
    assert price_of(prices, a_machine(spot=True)) == pytest.approx(spot)


def test_attached_gpus_local_ssds_and_the_boot_disk_come_on_top(prices) -> None:
    t4, ssd = listed(Kind.GPU, "nvidia-tesla-t4"), listed(Kind.LOCAL_SSD, ANY_SERIES)
    disk = listed(Kind.DISK, "pd-balanced")
    assert disk * 730 == pytest.approx(0.1, rel=1e-3)
    machine = a_machine(gpus={"nvidia-tesla-t4": 2}, local_ssd_gib=750, boot_disk="pd-balanced", boot_disk_gib=100)
    assert price_of(prices, machine) == pytest.approx(N2 + 2 * t4 + 750 * ssd + 100 * disk)


def test_spot_does_not_make_the_boot_disk_cheaper(prices) -> None:
    with_disk = price_of(prices, a_machine(spot=True, boot_disk="pd-ssd", boot_disk_gib=100))
    assert with_disk - price_of(prices, a_machine(spot=True)) == pytest.approx(100 * listed(Kind.DISK, "pd-ssd"))


def test_a_boot_disk_of_unknown_price_leaves_the_rest_of_the_price(prices) -> None:
    assert price_of(prices, a_machine(boot_disk="hyperdisk-new", boot_disk_gib=100)) == pytest.approx(N2)


def test_series_with_local_ssds_of_their_own_are_charged_by_these(prices) -> None:
    plain = price_of(prices, a_machine("c4-standard-8", 8, 30))
    with_ssd = price_of(prices, a_machine("c4-standard-8-lssd", 8, 30, local_ssd_gib=375))
    assert with_ssd - plain == pytest.approx(375 * listed(Kind.LOCAL_SSD, "c4"))
    assert listed(Kind.LOCAL_SSD, "c4") > 1.5 * listed(Kind.LOCAL_SSD, ANY_SERIES)


def test_a_machine_with_a_gpu_of_unknown_price_has_none(prices) -> None:
    assert price_of(prices, a_machine(gpus={"nvidia-new": 1})) is None


def test_a_machine_that_is_sold_as_a_whole_needs_no_parts(prices) -> None:
    disk = 10 * listed(Kind.DISK, "pd-standard")
    machine = a_machine("g1-small", 1, 1.7, gpus={"nvidia-new": 1}, boot_disk="pd-standard", boot_disk_gib=10)
    assert price_of(prices, machine) == pytest.approx(listed(Kind.MACHINE, "g1-small") + disk)


def test_smaller_shared_cores_are_dearer_than_larger_ones_which_hold_more_pods(prices) -> None:
    medium, small, micro = (
        price_of(prices, a_machine(f"e2-{size}", 2, gib)) for size, gib in (("medium", 4), ("small", 2), ("micro", 1))
    )
    assert medium == pytest.approx(0.0335, abs=1e-4), "two vCPUs that share one core are charged for one"
    assert medium < small < micro < 1.001 * medium


@pytest.mark.parametrize(
    ("name", "series"), [("n2-custom-4-16384", "n2"), ("custom-4-16384", "n1"), ("n2-custom-4-16384-ext", "n2")]
)
def test_custom_shapes_cost_a_twentieth_more(prices, name, series) -> None:
    usual = 4 * listed(Kind.CORE, series) + 16 * listed(Kind.MEMORY, series)
    assert price_of(prices, a_machine(name)) == pytest.approx(1.05 * usual)


def test_types_named_like_another_series_have_the_rates_of_their_own(prices) -> None:
    m4, large = (listed(Kind.CORE, series) for series in ("m4", "m4ultramem224"))
    per_gib = listed(Kind.MEMORY, "m4ultramem224")
    assert price_of(prices, a_machine("m4-ultramem-224", 224, 5952)) == pytest.approx(224 * large + 5952 * per_gib)
    assert large > 2 * m4


@pytest.mark.parametrize(
    ("mixed", "price"), [("highest", lambda a, b: max(a, b)), ("lowest", min), ("mean", lambda a, b: (a + b) / 2)]
)
def test_a_group_of_several_machines_costs_what_the_user_reckons_with(google, clock, mixed, price) -> None:
    prices = prices_of(google, clock, mixed=mixed)
    prices.refresh([a_pool(), a_pool("n1-standard-4")])
    machines = [a_machine(), a_machine("n1-standard-4", 4, 15), a_machine("x9-standard-4")]
    wanted = price(*(price_of(prices, machine) for machine in machines[:2]))
    assert price_of(prices, *machines) == pytest.approx(wanted), "the machine without a price does not count"


@pytest.mark.parametrize(
    ("labels", "spot"),
    [({}, False), ({"cloud.google.com/gke-spot": "true"}, True), ({"cloud.google.com/gke-preemptible": "true"}, True)],
)
def test_a_template_without_hardware_is_priced_by_its_labels(prices, labels, spot) -> None:
    template = a_template(instance_type="n2-standard-4", zone=ZONE, labels=labels)
    wanted = price_of(prices, a_machine(spot=spot))
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == pytest.approx(wanted)


def test_hardware_without_pools_has_the_price_of_its_region(prices) -> None:
    annotations = {HARDWARE_ANNOTATION: write([a_machine()])}
    template = replace(a_template(), annotations=annotations)
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == pytest.approx(N2)


def test_labels_also_tell_of_gpus(prices) -> None:
    labels = {"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}
    template = a_template(instance_type="n2-standard-4", zone=ZONE, gpus=2, labels=labels)
    wanted = N2 + 2 * listed(Kind.GPU, "nvidia-tesla-t4")
    assert prices.model().node_price(template, EPOCH, EPOCH + HOUR) == pytest.approx(wanted)


def test_hardware_that_is_no_json_is_an_error(prices) -> None:
    template = replace(a_template(), annotations={HARDWARE_ANNOTATION: "{"})
    with pytest.raises(ValueError, match="Expected"):
        prices.model().node_price(template, EPOCH, EPOCH + HOUR)


def test_a_model_stays_as_it_was_when_prices_change(google, clock) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool()])
    model = prices.model()
    prices.refresh([a_pool("n2-standard-4", "europe-west1-b")])
    assert model.node_price(a_template_of(a_machine()), EPOCH, EPOCH + HOUR) == pytest.approx(N2)
    assert price_of(prices, a_machine()) is None, "the region is not in use any more"


def test_the_model_is_made_anew_only_when_something_changed(prices) -> None:
    pools = [a_pool()]
    prices.refresh(pools)
    before = prices.model()
    prices.refresh(pools)
    assert prices.model() is before


def test_pods_cost_their_cores_memory_and_gpus_where_these_are_cheapest(google, clock) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool(), a_pool("e2-standard-4"), a_pool("n1-standard-4")])

    def price(**requests):
        return prices.model().pod_price(a_pod(**requests), EPOCH, EPOCH + HOUR)

    core, gib = listed(Kind.CORE, "e2"), listed(Kind.MEMORY, "e2")
    assert price(cpu="500m", memory="3Gi") == pytest.approx(core / 2 + 3 * gib)
    t4 = listed(Kind.GPU, "nvidia-tesla-t4")
    assert price(cpu="1", memory="0", requests={"nvidia.com/gpu": "1"}) == pytest.approx(core + t4)
    assert price(cpu="0", memory="0") == 0


def test_pods_that_want_gpus_have_no_price_where_no_gpu_has_one(google, clock) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool("e2-standard-4", "europe-north2-a")])
    assert prices.model().pod_price(a_pod(requests={"nvidia.com/gpu": "1"}), EPOCH, EPOCH + HOUR) is None
    assert prices.model().pod_price(a_pod(), EPOCH, EPOCH + HOUR) > 0


def test_pods_are_cheaper_where_spot_is_in_use(google, clock) -> None:
    prices = prices_of(google, clock)
    prices.refresh([a_pool(), a_pool(spot=True)])
    price = prices.model().pod_price(a_pod(cpu="1", memory="0"), EPOCH, EPOCH + HOUR)
    assert price == pytest.approx(listed(Kind.CORE, "n2", spot=True))
