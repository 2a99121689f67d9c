"""The billing catalogue of the double: some entries with the words and units of real ones."""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any

from nodewright_gce.testing.messages import Call, not_found

SERVICE = "6F81-5844-456A"
#: Places by region, and how much dearer they are than the first.
_PLACES = {"us-central1": ("Americas", 1.0), "europe-west1": ("Belgium", 1.1), "europe-west4": ("Netherlands", 1.1)}
#: Dollars per hour in the first region: on demand and spot, by core and by GiB.
_SERIES = {
    "E2": (0.021811590, 0.006543, 0.002923530, 0.000877),
    "N1 Predefined": (0.031611000, 0.006655, 0.004237000, 0.000892),
    "N2": (0.031611000, 0.007650, 0.004237000, 0.001030),
    "N2D AMD": (0.027502000, 0.002773, 0.003686000, 0.000371),
    "C3": (0.033982000, 0.003086, 0.004554000, 0.000413),
    "T2A Arm": (0.025600000, 0.010240, 0.003440000, 0.001380),
    "G2": (0.024988000, 0.009990, 0.002927000, 0.001171),
    "A2": (0.031611000, 0.009483, 0.004237000, 0.001271),
}
_GPUS = {"Nvidia L4": (0.560040, 0.223600), "Nvidia Tesla T4": (0.350000, 0.140000)}
_GPUS["Nvidia Tesla A100"] = (2.933908, 1.173560)
#: Dollars per GiB and month.
_DISKS = {"Storage PD": 0.04, "Balanced PD": 0.10, "SSD backed PD": 0.17}
_LOCAL_SSD = (0.080, 0.048)


def page_of_prices(call: Call) -> Mapping[str, Any]:
    """Answer ``services.skus.list``."""
    if call.name != SERVICE:
        raise not_found(f"services/{call.name}")
    skus = list(_skus(str(call.arguments.get("currencyCode") or "USD")))
    start = int(call.arguments.get("pageToken") or 0)
    end = start + int(call.arguments.get("pageSize") or 5000)
    return {"skus": skus[start:end], "nextPageToken": str(end) if end < len(skus) else ""}


def _skus(currency: str) -> Iterator[Mapping[str, Any]]:
    numbers = count(1)

    def sku(words: str, group: str, usage: str, region: str, price: float, unit: str = "h") -> Mapping[str, Any]:
        number = f"{next(numbers):04X}-0000-0000"
        rate = {"currencyCode": currency, "units": str(int(price)), "nanos": round(price % 1 * 1e9)}
        expression = {
            "usageUnit": unit,
            "displayQuantity": 1,
            "tieredRates": [{"startUsageAmount": 0, "unitPrice": rate}],
        }
        return {
            "name": f"services/{SERVICE}/skus/{number}",
            "skuId": number,
            "description": words,
            "category": {
                "serviceDisplayName": "Compute Engine",
                "resourceFamily": "Storage" if unit == "GiBy.mo" else "Compute",
                "resourceGroup": group,
                "usageType": usage,
            },
            "serviceRegions": [region],
            "pricingInfo": [{"summary": "", "pricingExpression": expression, "currencyConversionRate": 1}],
        }

    for region, (place, factor) in _PLACES.items():
        for series, (core, spot_core, ram, spot_ram) in _SERIES.items():
            for part, group, unit, dear, cheap in (
                ("Core", "CPU", "h", core, spot_core),
                ("Ram", "RAM", "GiBy.h", ram, spot_ram),
            ):
                words = f"{series} Instance {part} running in {place}"
                yield sku(words, group, "OnDemand", region, dear * factor, unit)
                yield sku(f"Spot Preemptible {words}", group, "Preemptible", region, cheap * factor, unit)
                # What has similar words, and is something else.
                yield sku(
                    f"Commitment v1: {series} {part} in {place} for 1 Year", group, "Commit1Yr", region, 0.01, unit
                )
                yield sku(f"{series} Custom Instance {part} running in {place}", group, "OnDemand", region, 9.9, unit)
        for gpu, (dear, cheap) in _GPUS.items():
            yield sku(f"{gpu} GPU running in {place}", "GPU", "OnDemand", region, dear * factor)
            words = f"{gpu} GPU attached to Spot Preemptible VMs running in {place}"
            yield sku(words, "GPU", "Preemptible", region, cheap * factor)
        for disk, price in _DISKS.items():
            yield sku(f"{disk} Capacity in {place}", "SSD", "OnDemand", region, price * factor, "GiBy.mo")
        ssd = "SSD backed Local Storage"
        yield sku(f"{ssd} in {place}", "LocalSSD", "OnDemand", region, _LOCAL_SSD[0] * factor, "GiBy.mo")
        attached = f"{ssd} attached to Spot Preemptible VMs in {place}"
        yield sku(attached, "LocalSSD", "Preemptible", region, _LOCAL_SSD[1] * factor, "GiBy.mo")
