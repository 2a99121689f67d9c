"""Rates in Google's billing catalogue, where only descriptions in words tell what is sold."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from nodewright_gce.prices.rates import ANY_SERIES, Item, Kind, Rate, Rates
from nodewright_gce.resources.sku import Sku

#: Google counts months of this many hours.
HOURS_PER_MONTH = 730
_HOURS = {"h": 1, "GiBy.h": 1, "GiBy.mo": HOURS_PER_MONTH}
_USAGE_TYPES = frozenset({"OnDemand", "Preemptible"})
_PARTS = {"Core": Kind.CORE, "Ram": Kind.MEMORY}
_DISKS = {
    "Storage PD": "pd-standard",
    "Balanced PD": "pd-balanced",
    "SSD backed PD": "pd-ssd",
    "Extreme PD": "pd-extreme",
    "Hyperdisk Balanced": "hyperdisk-balanced",
    "Hyperdisk Throughput": "hyperdisk-throughput",
    "Hyperdisk Extreme": "hyperdisk-extreme",
    "Hyperdisk ML": "hyperdisk-ml",
}
_GPUS = {
    "Nvidia Tesla K80": "nvidia-tesla-k80",
    "Nvidia Tesla P4": "nvidia-tesla-p4",
    "Nvidia Tesla P100": "nvidia-tesla-p100",
    "Nvidia Tesla T4": "nvidia-tesla-t4",
    "Nvidia Tesla V100": "nvidia-tesla-v100",
    "Nvidia Tesla A100": "nvidia-tesla-a100",
    "Nvidia Tesla A100 80GB": "nvidia-a100-80gb",
    "Nvidia L4": "nvidia-l4",
    "Nvidia H100 80GB": "nvidia-h100-80gb",
    "Nvidia H100 80GB Mega": "nvidia-h100-mega-80gb",
    "Nvidia H200 141GB": "nvidia-h200-141gb",
    "RTX 6000 96GB": "nvidia-rtx-pro-6000",
}


@dataclass(frozen=True, kw_only=True)
class _Form:
    """A form of descriptions, whose groups are ``name``, and ``part`` or a *kind*, and ``spot`` where that is told."""

    pattern: re.Pattern[str]
    kind: Kind | None = None
    #: What the names mean; others are passed over. Without these, names are series.
    names: Mapping[str, str] | None = None

    def item(self, match: re.Match[str]) -> Item | None:
        kind = self.kind or _PARTS[match["part"]]
        name = match["name"].lower() if self.names is None else self.names.get(match["name"])
        return Item(kind, name) if name else None


#: Entries for several old regions name no place.
_PLACE = r"(?: (?:running )?in .+)?$"
_SPOT = r"^(?P<spot>(?:Spot )?Preemptible )?"
_PART = r"(?P<part>Core|Ram)"
_ATTACHED = r"(?P<spot> attached to (?:Spot )?Preemptible VMs)?"
_FORMS = (
    # Further words between series and part, such as Custom or Sole Tenancy, tell of machines that are no usual shapes.
    _Form(
        pattern=re.compile(
            rf"{_SPOT}(?P<name>[A-Z]\d\w*)(?: AMD| Arm| Predefined| Memory-optimized)? Instance {_PART}{_PLACE}"
        )
    ),
    _Form(
        pattern=re.compile(rf"{_SPOT}(?P<name>Compute optimized|Memory-optimized)(?: Instance)? {_PART}{_PLACE}"),
        names={"Compute optimized": "c2", "Memory-optimized": "m1"},
    ),
    _Form(pattern=re.compile(rf"^(?P<name>\w[\w ]+?)(?: GPU)?{_ATTACHED}{_PLACE}"), kind=Kind.GPU, names=_GPUS),
    _Form(pattern=re.compile(rf"{_SPOT}(?P<name>[A-Z]\d\w*) Instance Local SSD{_PLACE}"), kind=Kind.LOCAL_SSD),
    _Form(
        pattern=re.compile(rf"^(?P<name>SSD backed Local Storage){_ATTACHED}{_PLACE}"),
        kind=Kind.LOCAL_SSD,
        names={"SSD backed Local Storage": ANY_SERIES},
    ),
    _Form(pattern=re.compile(rf"^(?P<name>[\w ]+) Capacity{_PLACE}"), kind=Kind.DISK, names=_DISKS),
    _Form(
        pattern=re.compile(rf"{_SPOT}(?P<name>Micro|Small) Instance with .+{_PLACE}"),
        kind=Kind.MACHINE,
        names={"Micro": "f1-micro", "Small": "g1-small"},
    ),
)


def rates_in(skus: Iterable[Sku]) -> dict[str, Rates]:
    """Return the rates by region. Commitments, reservations, sole tenancy and custom shapes are passed over."""
    regions: dict[str, dict[Item, Rate]] = defaultdict(dict)
    for sku in skus:
        if sku.category.usage_type not in _USAGE_TYPES:
            continue
        sold = item_of(sku.description)
        price = _hourly(sku)
        if sold is None or price is None:
            continue
        item, spot = sold
        for region in sku.service_regions:
            known = regions[region].get(item, Rate())
            regions[region][item] = replace(known, spot=price) if spot else replace(known, on_demand=price)
    return dict(regions)


def item_of(description: str) -> tuple[Item, bool] | None:
    """Return what is sold, and whether for spot machines; None if no machine of a usual shape needs it."""
    for form in _FORMS:
        match = form.pattern.match(description)
        if match and (item := form.item(match)):
            return item, bool(match.groupdict().get("spot"))
    return None


def _hourly(sku: Sku) -> float | None:
    """Return the price per hour behind any free amount; None if it costs nothing or is not sold by time."""
    for info in sku.pricing_info[:1]:
        hours = _HOURS.get(info.pricing_expression.usage_unit)
        amounts = [
            int(rate.unit_price.units) + rate.unit_price.nanos / 1e9 for rate in info.pricing_expression.tiered_rates
        ]
        if hours and any(amounts):
            return max(amounts) / hours
    return None
