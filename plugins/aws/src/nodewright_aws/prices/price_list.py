"""Prices on demand, from the price list API of AWS."""

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
#: Types for one request: a filter's value has at most 1,024 characters.
_TYPES = 40


def currency_of(region: str) -> str:
    """Return the currency in which AWS bills in *region*."""
    return "CNY" if region.startswith("cn-") else "USD"


def on_demand_prices(aws: Calls, place: str, types: Collection[str] = ()) -> dict[str, float]:
    """Ask what Linux machines cost for an hour in *place*: those of *types*, or all if there are none.

    Types that the price list does not know are missing from the answer. Raises `NodewrightError`.
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
    """Tell whether it is a machine as groups launch them: shared, but those of bare metal, and no block of capacity."""
    attributes = product["attributes"]
    is_shared = attributes.get("tenancy") == _SHARED or product.get("productFamily") == _BARE
    return is_shared and attributes.get("marketoption", _ON_DEMAND) == _ON_DEMAND


def _price(product: dict[str, Any], currency: str) -> float | None:
    """Return the price of an hour; reservations and blocks of capacity have none, or nothing."""
    terms = product.get("terms", {}).get(_ON_DEMAND, {}).values()
    dimensions = (dimension for term in terms for dimension in term["priceDimensions"].values())
    amounts = (float(each["pricePerUnit"].get(currency, 0)) for each in dimensions if each["unit"] == "Hrs")
    return max(amounts, default=0.0) or None


def _filter(field: str, value: str) -> dict[str, str]:
    return {"Type": "TERM_MATCH", "Field": field, "Value": value}


def _batches(names: list[str]) -> Iterator[list[str]]:
    """Cut *names* up; nothing is one batch of nothing."""
    rest = iter(names)
    yield list(islice(rest, _TYPES))
    while batch := list(islice(rest, _TYPES)):
        yield batch
