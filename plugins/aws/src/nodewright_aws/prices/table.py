"""Prices on demand that come along, for those who do not ask the price list API.

``python -m nodewright_aws.prices.table --help`` tells how the table is written.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


class Table:
    """Prices for an hour, by region and instance type, in the currency of AWS there."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._regions = content["regions"]
        self._base = self._regions[content["base"]]["prices"]

    def price(self, region: str, instance_type: str) -> float | None:
        """Return what machines of a type cost in *region*, None if nobody noted it."""
        entry = self._regions.get(region, {})
        family, _, size = instance_type.partition(".")
        price: float | None = entry.get("prices", {}).get(family, {}).get(size)
        if price is not None:
            return price
        factor = entry.get("factors", {}).get(family)
        base = self._base.get(family, {}).get(size)
        return None if factor is None or base is None else round(base * factor, 5)

    def date(self, region: str) -> str:
        """Return when the prices of *region* were noted; empty if they were not."""
        return str(self._regions.get(region, {}).get("date", ""))


@cache
def bundled() -> Table:
    """Return the table that comes along. Reads a file, once."""
    return Table(json.loads(files(__package__).joinpath("on-demand.json").read_text("utf-8")))


if __name__ == "__main__":
    from nodewright_aws.prices.writing import main

    main()
