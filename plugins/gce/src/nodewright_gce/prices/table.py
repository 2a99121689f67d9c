"""The bundled table of rates."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from nodewright_gce.prices.rates import Item, Kind, Rate, Rates

#: The file has whole numbers of this many dollars per hour.
UNIT = 1e-7
FILE = "rates.json"


class RateTable:
    """Rates by region, as `FILE` has them."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._regions = content["regions"]

    def rates(self, region: str) -> Rates:
        """Return the rates of *region*; nothing if the table lacks it."""
        entry = self._regions.get(region, {})
        return {
            Item(kind, name): Rate(on_demand=_dollars(amounts[0]), spot=_dollars(*amounts[1:]))
            for kind in Kind
            for name, amounts in entry.get(kind, {}).items()
        }


@cache
def bundled() -> RateTable:
    """Return the bundled table. Reads a file, once."""
    return RateTable(json.loads(files(__package__).joinpath(FILE).read_text("utf-8")))


def _dollars(amount: float | None = None) -> float | None:
    return None if amount is None else amount * UNIT
