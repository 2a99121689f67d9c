"""Prices in a region."""

import logging
from collections.abc import Callable, Collection
from random import Random

from nodewright.api import Clock, PricingModel

from nodewright_aws.calls import Calls
from nodewright_aws.config import PriceSettings, SpotSource
from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.prices.book import PriceBook
from nodewright_aws.prices.model import AwsPricing, PricedType, resources_of
from nodewright_aws.prices.on_demand import OnDemandPrices
from nodewright_aws.prices.price_list import currency_of
from nodewright_aws.prices.spot import SpotPrices

_log = logging.getLogger(__name__)
_NAMED = 5


class Prices:
    """Prices of the pools in use. *infos* returns an instance type, None if it is unknown, and makes no call."""

    def __init__(
        self,
        aws: Calls,
        settings: PriceSettings,
        clock: Clock,
        region: str,
        *,
        infos: Callable[[str], InstanceTypeInfo | None],
        chance: Random | None = None,
    ) -> None:
        chance = chance or Random()
        self._settings = settings
        self._region = region
        self._infos = infos
        self._on_demand = OnDemandPrices(aws, clock, settings, region, chance)
        self._spot = SpotPrices(aws, clock, settings.spot_interval, chance)
        self._model = AwsPricing(PriceBook(region=region, settings=settings), currency=self._currency)
        #: What the model was made from: it is made anew only when that changes.
        self._basis: object = None
        #: Instance types in use without any pool of known price.
        self.unpriced: frozenset[str] = frozenset()

    def refresh(self, pools: Collection[Pool]) -> None:
        """Update the prices of *pools*, which are those of all groups. Called in `Provider.refresh`.

        Raises nothing if calls fail: known prices stay, and the failure is logged once.
        """
        self._on_demand.refresh(pools)
        if self._settings.spot is SpotSource.HISTORY:
            self._spot.refresh([pool for pool in pools if pool.lifecycle is Lifecycle.SPOT])
        book = PriceBook(
            region=self._region,
            settings=self._settings,
            on_demand=self._on_demand.known,
            spot=self._spot.known,
        )
        basis = book, frozenset(pools), frozenset(filter(self._infos, {pool.instance_type for pool in pools}))
        if basis != self._basis:
            self._basis = basis
            self._note_unpriced(book, pools)
            self._model = AwsPricing(book, currency=self._currency, types=self._priced_types(book, pools))

    def model(self) -> PricingModel:
        """Return the prices as of the last refresh, which never change."""
        return self._model

    @property
    def _currency(self) -> str:
        return self._settings.currency or currency_of(self._region)

    def _priced_types(self, book: PriceBook, pools: Collection[Pool]) -> list[PricedType]:
        """Return the instance types in use, each at the price of its cheapest pool."""
        cheapest: dict[str, float] = {}
        for pool in pools:
            price = book.price(pool)
            if price is not None:
                cheapest[pool.instance_type] = min(price, cheapest.get(pool.instance_type, price))
        return [
            PricedType(resources=resources_of(info), price=price)
            for name, price in sorted(cheapest.items())
            if (info := self._infos(name)) is not None
        ]

    def _note_unpriced(self, book: PriceBook, pools: Collection[Pool]) -> None:
        types = {pool.instance_type for pool in pools}
        unpriced = frozenset(types - {pool.instance_type for pool in pools if book.price(pool) is not None})
        if unpriced and unpriced != self.unpriced:
            named = ", ".join(sorted(unpriced)[:_NAMED]) + (", …" if len(unpriced) > _NAMED else "")
            _log.warning(
                "no price is known for %d of %d instance types in use in %s (%s): groups of only these take no part "
                "in price comparisons; write their prices in prices.overlay, or use prices.onDemand: api for new "
                "types, prices.spotRatio for spot",
                len(unpriced),
                len(types),
                self._region,
                named,
            )
        self.unpriced = unpriced
