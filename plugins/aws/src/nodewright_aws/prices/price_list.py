"""On-demand prices from the price list API of AWS."""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from typing import Any

from nodewright_aws.calls import Calls

_LINUX = {
    "operatingSystem": "Linux",
    "preInstalledSw": "NA",
    "capacitystatus": "Used",
    "operation": "RunInstances",
}
_SHARED = "Shared"
_ON_DEMAND = "OnDemand"
_BARE = "Compute Instance (bare metal)"
#: Types per request: the value of a filter has at most 1,024 characters.
_TYPES = 40


def currency_of(region: str) -> str:
    """Return the currency in which AWS bills in *region*."""
    return "CNY" if region.startswith("cn-") else "USD"


def on_demand_prices(aws: Calls, place: str, types: Collection[str] = ()) -> dict[str, float]:
    """Return the hourly prices of Linux machines in *place*: of *types*, or of all types if that is empty.

    Types that the price list lacks are left out. Raises `NodewrightError`.
    """
    prices: dict[str, float] = {}
    for batch in _batches(sorted(types)):
        filters = [_filter(field, value) for field, value in (_LINUX | {"regionCode": place}).items()]
        if batch:
            filters.append({"Type": "ANY_OF", "Field": "instanceType", "Value": ",".join(batch)})
        for page in aws.pages("pricing", "get_products", ServiceCode="AmazonEC2", Filters=filters):
            for text in page.get("PriceList", ()):
                product = json.loads(text)
                price = _price(product, currency_of(place))
                if price is not None and _is_for_everyone(product["product"]):
                    prices[product["product"]["attributes"]["instanceType"]] = price
    return prices


def _is_for_everyone(product: dict[str, Any]) -> bool:
    """Tell whether groups launch this product: shared tenancy or bare metal, and no capacity block."""
    attributes = product["attributes"]
    is_shared = attributes.get("tenancy") == _SHARED or product.get("productFamily") == _BARE
    return is_shared and attributes.get("marketoption", _ON_DEMAND) == _ON_DEMAND


def _price(product: dict[str, Any], currency: str) -> float | None:
    """Return the hourly price; reservations and capacity blocks have none, or a price of 0."""
    terms = product.get("terms", {}).get(_ON_DEMAND, {}).values()
    dimensions = (dimension for term in terms for dimension in term["priceDimensions"].values())
    amounts = (float(each["pricePerUnit"].get(currency, 0)) for each in dimensions if each["unit"] == "Hrs")
    return max(amounts, default=0.0) or None


def _filter(field: str, value: str) -> dict[str, str]:
    return {"Type": "TERM_MATCH", "Field": field, "Value": value}


def _batches(names: list[str]) -> Iterator[list[str]]:
    """Yield *names* in batches; one empty batch if there are none."""
    rest = iter(names)
    yield list(islice(rest, _TYPES))
    while batch := list(islice(rest, _TYPES)):
        yield batch
