"""What machines cost that are bought on demand."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from random import Random

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.pools import Pool
from nodewright_aws.prices.agenda import Agenda, Key
from nodewright_aws.prices.book import place_of
from nodewright_aws.prices.price_list import on_demand_prices
from nodewright_aws.prices.settings import OnDemandSource, PriceSettings
from nodewright_aws.prices.table import bundled

_REMEDY = "allow pricing:GetProducts, or set prices.onDemand to table"


class OnDemandPrices:
    """Knows the prices of the types in use. Prices are in the currency of AWS, for an hour."""

    def __init__(self, aws: Calls, clock: Clock, settings: PriceSettings, region: str, chance: Random) -> None:
        self._aws = aws
        self._source = settings.on_demand
        self._region = region
        self._agenda = Agenda("prices on demand", _REMEDY, clock, settings.on_demand_interval, chance)
        self._told: dict[Key, float] = {}
        #: By place and instance type.
        self.known: Mapping[Key, float] = {}

    def refresh(self, pools: Collection[Pool]) -> None:
        """Learn the prices of *pools*.

        If the price list can't be read, what it told before holds, or else the table.
        """
        if self._source is OnDemandSource.OFF:
            return
        in_use = frozenset((place_of(pool.zone, self._region), pool.instance_type) for pool in pools)
        if self._source is OnDemandSource.API:
            with self._agenda.questions(in_use) as questions:
                self._ask(questions)
        noted = {key: self._told.get(key, bundled().price(*key)) for key in in_use}
        self.known = {key: price for key, price in noted.items() if price is not None}

    def _ask(self, questions: Collection[Key]) -> None:
        types_by_place = defaultdict(set)
        for place, instance_type in questions:
            types_by_place[place].add(instance_type)
        for place, types in sorted(types_by_place.items()):
            prices = on_demand_prices(self._aws, place, types)
            self._told |= {(place, name): price for name, price in prices.items()}
