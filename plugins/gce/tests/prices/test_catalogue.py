"""What the descriptions in the billing catalogue mean."""

import json

import msgspec
import pytest
from nodewright_gce.prices.catalogue import item_of, rates_in
from nodewright_gce.prices.rates import ANY_SERIES, Item, Kind, Rate
from nodewright_gce.resources.sku import Sku

from .billing import REGION, an_entry


def rates(*entries):
    return rates_in(msgspec.json.decode(json.dumps(entries), type=list[Sku])).get(REGION, {})


@pytest.mark.parametrize(
    ("description", "kind", "name", "spot"),
    [
        ("N2 Instance Core running in Americas", Kind.CORE, "n2", False),
        ("Spot Preemptible N2 Instance Ram running in Paris", Kind.MEMORY, "n2", True),
        ("N1 Predefined Instance Core running in Belgium", Kind.CORE, "n1", False),
        ("N2D AMD Instance Ram running in Zurich", Kind.MEMORY, "n2d", False),
        ("Spot Preemptible T2A Arm Instance Core running in Iowa", Kind.CORE, "t2a", True),
        ("Compute optimized Core running in Americas", Kind.CORE, "c2", False),
        ("Spot Preemptible Compute optimized Instance Ram running in Japan", Kind.MEMORY, "c2", True),
        ("Memory-optimized Instance Core running in Americas", Kind.CORE, "m1", False),
        ("M3 Memory-optimized Instance Ram running in Tokyo", Kind.MEMORY, "m3", False),
        ("A3Plus Instance Core running in Tokyo", Kind.CORE, "a3plus", False),
        ("Micro Instance with burstable CPU running in Americas", Kind.MACHINE, "f1-micro", False),
        ("Spot Preemptible Small Instance with 1 VCPU running in Japan", Kind.MACHINE, "g1-small", True),
        ("Nvidia Tesla T4 GPU running in Americas", Kind.GPU, "nvidia-tesla-t4", False),
        ("Nvidia L4 GPU attached to Spot Preemptible VMs running in Iowa", Kind.GPU, "nvidia-l4", True),
        ("Nvidia Tesla A100 GPU running in Americas", Kind.GPU, "nvidia-tesla-a100", False),
        ("Nvidia Tesla A100 80GB GPU running in Americas", Kind.GPU, "nvidia-a100-80gb", False),
        ("Nvidia H100 80GB Mega GPU running in Tokyo", Kind.GPU, "nvidia-h100-mega-80gb", False),
        ("RTX 6000 96GB running in Americas", Kind.GPU, "nvidia-rtx-pro-6000", False),
        ("SSD backed Local Storage", Kind.LOCAL_SSD, ANY_SERIES, False),
        ("SSD backed Local Storage in Paris", Kind.LOCAL_SSD, ANY_SERIES, False),
        ("SSD backed Local Storage attached to Spot Preemptible VMs in Paris", Kind.LOCAL_SSD, ANY_SERIES, True),
        ("Spot Preemptible C4D Instance Local SSD running in Iowa", Kind.LOCAL_SSD, "c4d", True),
        ("Storage PD Capacity", Kind.DISK, "pd-standard", False),
        ("Balanced PD Capacity in Mumbai", Kind.DISK, "pd-balanced", False),
        ("Hyperdisk Balanced Capacity in Mumbai", Kind.DISK, "hyperdisk-balanced", False),
    ],
)
def test_a_description_tells_what_is_sold(description, kind, name, spot) -> None:
    assert item_of(description) == (Item(kind, name), spot)


@pytest.mark.parametrize(
    "description",
    [
        "N2 Custom Instance Core running in Americas",
        "N2 Custom Extended Instance Ram running in Americas",
        "Spot Preemptible N2D AMD Custom Instance Core running in Americas",
        "Custom Instance Core running in Americas",
        "N2D AMD Sole Tenancy Instance Core running in Americas",
        "Sole Tenancy Premium for N2 Instance Core running in Americas",
        "Memory Optimized Upgrade Premium for Memory-optimized Instance Core running in Americas",
        "Reserved A3 Instance Core running in Americas",
        "Commitment v1: N2 Cpu in Americas for 1 Year",
        "Commitment: Compute optimized Core running in Americas for 1 Year",
        "Nvidia Tesla T4 Virtual Workstation GPU running in Americas",
        "Reserved Nvidia L4 GPU in Americas",
        "VM state: preserved local SSD in Iowa",
        "Regional Balanced PD Capacity in Mumbai",
        "Hyperdisk Balanced IOPS in Mumbai",
        "Hyperdisk Balanced High Availability Capacity in Mumbai",
        "Network Vpn Internet Egress from Americas to Africa",
        "Licensing Fee for Windows Server 2019 Datacenter Edition (CPU cost)",
        "",
    ],
)
def test_what_machines_of_usual_shapes_do_not_need_is_passed_over(description) -> None:
    assert item_of(description) is None


def test_on_demand_and_spot_make_one_rate() -> None:
    assert rates(
        an_entry("N2 Instance Core running in Americas", 0.031611),
        an_entry("Spot Preemptible N2 Instance Core running in Americas", 0.00765, usage="Preemptible"),
    ) == {Item(Kind.CORE, "n2"): Rate(on_demand=0.031611, spot=0.00765)}


def test_the_words_tell_of_spot_where_the_category_says_on_demand() -> None:
    entry = an_entry("SSD backed Local Storage attached to Spot Preemptible VMs", 0.0428, unit="GiBy.mo")
    assert rates(entry) == {Item(Kind.LOCAL_SSD, ANY_SERIES): Rate(spot=pytest.approx(0.0428 / 730))}


def test_a_monthly_price_behind_a_free_amount_is_told_per_hour() -> None:
    entry = an_entry("Storage PD Capacity", 0.04, unit="GiBy.mo", free=30)
    assert rates(entry)[Item(Kind.DISK, "pd-standard")].on_demand == pytest.approx(0.04 / 730)


def test_prices_of_a_dollar_and_more_have_their_whole_part() -> None:
    assert rates(an_entry("Nvidia Tesla A100 GPU running in Iowa", 2.933908)) == {
        Item(Kind.GPU, "nvidia-tesla-a100"): Rate(on_demand=pytest.approx(2.933908))
    }


@pytest.mark.parametrize(
    "entry",
    [
        an_entry("N2 Instance Core running in Americas", 0.02, usage="Commit1Yr"),
        an_entry("N2 Instance Core running in Americas", 0.0),
        an_entry("N2 Instance Core running in Americas", 0.03, unit="count"),
        an_entry("N2 Instance Core running in Americas", 0.03) | {"pricingInfo": []},
        an_entry("N2 Instance Core running in EMEA", 0.03, regions=["europe-west1"]),
    ],
    ids=["commitment", "nothing", "no hours", "no price", "elsewhere"],
)
def test_entries_that_are_no_price_by_the_hour_here_are_passed_over(entry) -> None:
    assert rates(entry) == {}
