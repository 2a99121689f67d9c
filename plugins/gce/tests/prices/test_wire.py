"""Prices of groups of a Google Cloud that answers over HTTP."""

import json

import pytest
from nodewright.api import ProviderContext
from nodewright.testing import EPOCH
from nodewright_gce.config.gce import GceConfig
from nodewright_gce.prices.rates import Kind
from nodewright_gce.prices.table import RateTable
from nodewright_gce.prices.writing import ask, table_of
from nodewright_gce.provider import GceProvider

from .billing import HOUR, listed

PLACE = "europe-west1"
CORE, GIB = listed(Kind.CORE, "n2", region=PLACE), listed(Kind.MEMORY, "n2", region=PLACE)


@pytest.fixture
def hourly(double):
    """Return what a new node of the only group costs."""
    made = []

    def hourly(**settings):
        discover = [{"namePrefix": "w", "min": 0, "max": 9}]
        config = double.config(zones=["europe-west1-b"], discover=discover, prices=settings)
        provider = GceProvider(GceConfig.model_validate(config), ProviderContext(clock=double.clock))
        made.append(provider)
        provider.refresh()
        (group,) = provider.groups()
        return provider.pricing().node_price(group.template(), EPOCH, EPOCH + HOUR)

    yield hourly
    for provider in made:
        provider.close()


def a_disk(kind, gib, **fields):
    return {"boot": True, "type": "PERSISTENT", "initializeParams": {"diskType": kind, "diskSizeGb": str(gib)}} | fields


def test_a_group_costs_its_machine_and_its_boot_disk(double, hourly) -> None:
    double.make_mig("workers", machine_type="n2-standard-8", disks=[a_disk("pd-balanced", 100)])
    disk = listed(Kind.DISK, "pd-balanced", region=PLACE)
    assert hourly() == pytest.approx(8 * CORE + 32 * GIB + 100 * disk)


def test_spot_is_told_by_the_template_of_the_machines_and_by_no_label(double, hourly) -> None:
    double.make_mig("workers", machine_type="n2-standard-8", spot=True, disks=[a_disk("pd-new", 100)])
    core, gib = (listed(kind, "n2", region=PLACE, spot=True) for kind in (Kind.CORE, Kind.MEMORY))
    assert hourly() == pytest.approx(8 * core + 32 * gib)


def test_attached_gpus_and_local_ssds_are_charged(double, hourly) -> None:
    ssd = {"type": "SCRATCH", "interface": "NVME", "initializeParams": {"diskType": "local-ssd"}}
    double.make_mig(
        "workers",
        machine_type="n2-standard-8",
        accelerators={"nvidia-tesla-t4": 2},
        disks=[a_disk("pd-new", 100), ssd, ssd],
    )
    assert hourly() is None, "the table has no T4 in Belgium"
    billed = 1.1 * (8 * 0.031611 + 32 * 0.004237 + 2 * 0.35 + 750 * 0.08 / 730)
    assert hourly(onDemand="api") == pytest.approx(billed, rel=1e-4)


def test_threads_that_the_template_hides_are_charged_all_the_same(double, hourly) -> None:
    url = double.make_template(
        "workers-1",
        machine_type="n2-standard-8",
        disks=[a_disk("pd-new", 100)],
        advancedMachineFeatures={"threadsPerCore": 1},
    )
    double.make_mig("workers", template=url)
    assert hourly() == pytest.approx(8 * CORE + 32 * GIB)


def test_a_flexible_group_costs_the_mean_of_its_types(double, hourly) -> None:
    double.make_mig("workers", types=["n2-standard-8", "n2-highmem-8"], disks=[a_disk("pd-new", 100)])
    assert hourly() == pytest.approx(8 * CORE + (32 + 64) / 2 * GIB)
    assert hourly(mixed="highest") == pytest.approx(8 * CORE + 64 * GIB)


def test_the_catalogue_is_read_over_http_and_once(double, hourly) -> None:
    double.make_mig("workers", machine_type="n2-standard-8", disks=[a_disk("pd-standard", 100)])
    assert hourly(onDemand="api") == pytest.approx(1.1 * (8 * 0.031611 + 32 * 0.004237 + 100 * 0.04 / 730), rel=1e-4)
    assert double.calls["skus", "list"] == 1


def test_a_catalogue_that_is_denied_leaves_the_table(double, hourly, caplog) -> None:
    double.make_mig("workers", machine_type="n2-standard-8", disks=[a_disk("pd-new", 100)])
    double.faults.deny("skus:list")
    assert hourly(onDemand="api") == pytest.approx(8 * CORE + 32 * GIB)
    assert "the billing catalogue can't be read" in caplog.text


def test_the_table_can_be_written_from_the_catalogue(double) -> None:
    source = ask(GceConfig.model_validate(double.config()))
    table = RateTable(json.loads(json.dumps(table_of([source]))))
    rates = table.rates("us-central1")
    assert rates[Kind.CORE, "n2"].on_demand == pytest.approx(0.031611)
    assert rates[Kind.CORE, "n1"].spot == pytest.approx(0.006655)
    assert rates[Kind.GPU, "nvidia-tesla-a100"].on_demand == pytest.approx(2.933908)
    assert rates[Kind.DISK, "pd-balanced"].on_demand == pytest.approx(0.1 / 730, rel=1e-3)
    assert source.date >= "2026"
