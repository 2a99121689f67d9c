"""On-demand prices: the bundled table, and the price list of AWS for those who ask it."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.config import OnDemandSource, PriceSettings
from nodewright_aws.pools import Pool
from nodewright_aws.prices.book import place_of
from nodewright_aws.prices.price_list import on_demand_prices
from nodewright_aws.prices.schedule import Key, RefreshSchedule

_ADVICE = "allow pricing:GetProducts, or set prices.onDemand to table"


class PriceTable:
    """Hourly prices by region and instance type, in AWS' currency there."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._regions = content["regions"]
        self._base = self._regions[content["base"]]["prices"]

    def price(self, region: str, instance_type: str) -> float | None:
        """Return the price of a type in *region*; None if the table lacks it."""
        entry = self._regions.get(region, {})
        family, _, size = instance_type.partition(".")
        price: float | None = entry.get("prices", {}).get(family, {}).get(size)
        if price is not None:
            return price
        factor = entry.get("factors", {}).get(family)
        base = self._base.get(family, {}).get(size)
        return None if factor is None or base is None else round(base * factor, 5)

    def date(self, region: str) -> str:
        """Return the date of the prices of *region*; empty if the table has none."""
        return str(self._regions.get(region, {}).get("date", ""))


@cache
def bundled() -> PriceTable:
    """Return the bundled table. Reads a file, once."""
    return PriceTable(json.loads(files(__package__).joinpath("on-demand.json").read_text("utf-8")))


class OnDemandPrices:
    """Hourly on-demand prices of the types in use, in AWS' currency."""

    def __init__(self, aws: Calls, clock: Clock, settings: PriceSettings, region: str, chance: Random) -> None:
        self._aws = aws
        self._source = settings.on_demand
        self._region = region
        self._schedule = RefreshSchedule("on-demand prices", _ADVICE, clock, settings.on_demand_interval, chance)
        self._listed: dict[Key, float] = {}
        #: By place and instance type.
        self.known: Mapping[Key, float] = {}

    def refresh(self, pools: Collection[Pool]) -> None:
        """Update the prices of *pools*.

        If the price list can't be read, its earlier prices count, or else the table.
        """
        if self._source is OnDemandSource.OFF:
            return
        in_use = frozenset((place_of(pool.zone, self._region), pool.instance_type) for pool in pools)
        if self._source is OnDemandSource.API:
            with self._schedule.due(in_use) as due:
                self._ask(due)
        prices = {key: self._listed.get(key, bundled().price(*key)) for key in in_use}
        self.known = {key: price for key, price in prices.items() if price is not None}

    def _ask(self, keys: Collection[Key]) -> None:
        types_by_place = defaultdict(set)
        for place, instance_type in keys:
            types_by_place[place].add(instance_type)
        for place, types in sorted(types_by_place.items()):
            prices = on_demand_prices(self._aws, place, types)
            self._listed |= {(place, name): price for name, price in prices.items()}
