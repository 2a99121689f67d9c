"""Google as far as prices go: a billing catalogue of the form that ``services.skus.list`` has."""

import json
from dataclasses import replace
from datetime import timedelta
from random import Random

import msgspec
from nodewright.testing import EPOCH, a_template
from nodewright_gce.config.prices import PriceSettings
from nodewright_gce.machine_types.hardware import HARDWARE_ANNOTATION, Hardware, write
from nodewright_gce.pools import POOLS_ANNOTATION, Pool
from nodewright_gce.prices.prices import Prices
from nodewright_gce.prices.table import bundled
from nodewright_gce.resources.sku import Sku

HOUR = timedelta(hours=1)
REGION = "us-central1"
ZONE = "us-central1-a"


class RecordedCatalogue:
    """Tells the entries that it is given."""

    def __init__(self):
        self.entries = []
        self.fault = None
        self.asked = []

    def skus(self, currency):
        self.asked.append(currency)
        if self.fault:
            raise self.fault
        return msgspec.json.decode(json.dumps(self.entries), type=list[Sku])


def an_entry(description, price, *, regions=(REGION,), usage="OnDemand", unit="h", free=0, currency="USD"):
    """An entry of the catalogue; *free* units cost nothing."""
    units, nanos = divmod(round(price * 1e9), 10**9)
    rates = [{"startUsageAmount": 0, "unitPrice": {"currencyCode": currency, "units": "0", "nanos": 0}}] if free else []
    rates.append(
        {"startUsageAmount": free, "unitPrice": {"currencyCode": currency, "units": f"{units}", "nanos": nanos}}
    )
    return {
        "name": "services/6F81-5844-456A/skus/0000-0000-0000",
        "skuId": "0000-0000-0000",
        "description": description,
        "category": {
            "serviceDisplayName": "Compute Engine",
            "resourceFamily": "Compute",
            "resourceGroup": "CPU",
            "usageType": usage,
        },
        "serviceRegions": list(regions),
        "pricingInfo": [
            {
                "summary": "",
                "pricingExpression": {"usageUnit": unit, "displayQuantity": 1, "tieredRates": rates},
                "currencyConversionRate": 1,
                "effectiveTime": "2026-11-20T08:00:00Z",
            }
        ],
        "serviceProviderName": "Google",
    }


def prices_of(google, clock, **settings):
    return Prices(google, PriceSettings.model_validate(settings), clock, chance=Random(0))


def a_machine(machine_type="n2-standard-4", vcpus=4, gib=16, **fields):
    return Hardware(**{"region": REGION} | fields, machine_type=machine_type, vcpus=vcpus, memory_mib=int(gib * 1024))


def a_template_of(*machines, zones=(ZONE,)):
    pools = [Pool(zone=zone, machine_type=each.machine_type, spot=each.spot) for each in machines for zone in zones]
    annotations = {HARDWARE_ANNOTATION: write(machines), POOLS_ANNOTATION: ",".join(map(str, pools))}
    return replace(a_template(), annotations=annotations)


def a_pool(machine_type="n2-standard-4", zone=ZONE, **fields):
    return Pool(zone=zone, machine_type=machine_type, **fields)


def price_of(prices, *machines, zones=(ZONE,)):
    """What a node costs for an hour that is one of *machines*."""
    return prices.model().node_price(a_template_of(*machines, zones=zones), EPOCH, EPOCH + HOUR)


def listed(kind, name, *, region=REGION, spot=False):
    """A rate of the bundled table."""
    return bundled().rates(region)[kind, name].price(spot=spot)
