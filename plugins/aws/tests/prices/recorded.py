"""AWS as far as prices go: answers in boto3's form, and a record of what was asked."""

import json
from datetime import timedelta
from random import Random

from nodewright.testing import EPOCH
from nodewright_aws.config import PriceSettings
from nodewright_aws.instance_types.info import Gpu, InstanceTypeInfo
from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.prices.prices import Prices

REGION = "eu-west-1"
HOUR = timedelta(hours=1)


class RecordedAws:
    """Tells the spot prices and the price list that it is given, page by page."""

    def __init__(self, region=REGION):
        self.region = region
        #: Lists of entries of DescribeSpotPriceHistory, one for each page.
        self.spot = [[]]
        #: Prices by region and type; what is no number is taken for a whole product.
        self.listed = {}
        self.faults = {}
        self.calls = []

    def call(self, service, operation, **arguments):
        raise AssertionError(f"nobody needs {service}:{operation}")

    def pages(self, service, operation, **arguments):
        self.calls.append((operation, arguments))
        if operation in self.faults:
            raise self.faults[operation]
        if operation == "describe_spot_price_history":
            for entries in self.spot:
                yield {"SpotPriceHistory": entries, "NextToken": ""}
        elif operation == "get_products":
            yield {"FormatVersion": "aws_v1", "PriceList": [json.dumps(each) for each in self._products(arguments)]}
        else:
            raise AssertionError(f"nobody needs {service}:{operation}")

    def asked(self, operation):
        """The arguments of all requests of that name."""
        return [arguments for name, arguments in self.calls if name == operation]

    def _products(self, arguments):
        filters = {each["Field"]: each["Value"] for each in arguments["Filters"]}
        types = filters.get("instanceType", "").split(",")
        for instance_type, price in self.listed.get(filters["regionCode"], {}).items():
            if types == [""] or instance_type in types:
                yield a_product(instance_type, price) if isinstance(price, float) else price


def a_product(
    instance_type, price, *, currency="USD", tenancy="Shared", family="Compute Instance", unit="Hrs", market="OnDemand"
):
    """An entry of a price list, as GetProducts has it when its JSON is read."""
    dimension = {"unit": unit, "pricePerUnit": {currency: f"{price:.10f}"}, "beginRange": "0", "endRange": "Inf"}
    return {
        "product": {
            "productFamily": family,
            "attributes": {
                "instanceType": instance_type,
                "tenancy": tenancy,
                "operatingSystem": "Linux",
                "marketoption": market,
            },
            "sku": "ABCDEFGH12345678",
        },
        "serviceCode": "AmazonEC2",
        "terms": {"OnDemand": {"ABC.JRTCKXETXF": {"priceDimensions": {"ABC.JRTCKXETXF.6YS6EN2CT7": dimension}}}},
    }


def a_spot_price(instance_type, zone, price, *, minutes_ago=60, product="Linux/UNIX"):
    return {
        "AvailabilityZone": zone,
        "InstanceType": instance_type,
        "ProductDescription": product,
        "SpotPrice": f"{price:.6f}",
        "Timestamp": EPOCH - timedelta(minutes=minutes_ago),
    }


def on_demand(instance_type, zone="eu-west-1a"):
    return Pool(zone=zone, instance_type=instance_type)


def spot(instance_type, zone="eu-west-1a"):
    return Pool(zone=zone, instance_type=instance_type, lifecycle=Lifecycle.SPOT)


INFOS = {
    info.name: info
    for info in (
        InstanceTypeInfo(name="m5.large", vcpus=2, memory_mib=8192),
        InstanceTypeInfo(name="m5.xlarge", vcpus=4, memory_mib=16384),
        InstanceTypeInfo(name="c5.large", vcpus=2, memory_mib=4096),
        InstanceTypeInfo(
            name="g4dn.xlarge", vcpus=4, memory_mib=16384, gpu=Gpu(name="T4", manufacturer="NVIDIA", count=1)
        ),
    )
}


def prices_of(aws, clock, region=REGION, infos=INFOS.get, **settings):
    """`Prices` with *settings* as in YAML, and no chance in when it asks again."""
    return Prices(aws, PriceSettings.model_validate(settings), clock, region, infos=infos, chance=_Steady())


class _Steady(Random):
    def uniform(self, a, b):
        return (a + b) / 2
