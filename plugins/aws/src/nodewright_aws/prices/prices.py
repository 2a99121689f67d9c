"""What machines cost in a region."""

import logging
from collections.abc import Callable, Collection
from random import Random

from nodewright.api import Clock, PricingModel

from nodewright_aws.calls import Calls
from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.prices.book import PriceBook
from nodewright_aws.prices.model import AwsPricing, Machine, resources_of
from nodewright_aws.prices.on_demand import OnDemandPrices
from nodewright_aws.prices.price_list import currency_of
from nodewright_aws.prices.settings import PriceSettings, SpotSource
from nodewright_aws.prices.spot import SpotPrices
from nodewright_aws.shapes.shape import Shape

_log = logging.getLogger(__name__)
_NAMED = 5


class Prices:
    """Prices of the pools in use. *shapes* tells what a type has, if anybody knows, and must not call AWS."""

    def __init__(
        self,
        aws: Calls,
        settings: PriceSettings,
        clock: Clock,
        region: str,
        *,
        shapes: Callable[[str], Shape | None],
        chance: Random | None = None,
    ) -> None:
        chance = chance or Random()
        self._settings = settings
        self._region = region
        self._shapes = shapes
        self._on_demand = OnDemandPrices(aws, clock, settings, region, chance)
        self._spot = SpotPrices(aws, clock, settings.spot_interval, chance)
        self._model = AwsPricing(PriceBook(region=region, settings=settings), currency=self._currency)
        #: What the model was made from, so that it is made anew only when something has changed.
        self._basis: object = None
        #: Instance types in use of which no pool has a known price.
        self.unpriced: frozenset[str] = frozenset()

    def refresh(self, pools: Collection[Pool]) -> None:
        """Learn the prices of *pools*, all those that groups draw from. Called in `Provider.refresh`.

        Raises nothing that AWS may do to it: what was known stays known, and the log tells of it once.
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
        basis = book, frozenset(pools), frozenset(filter(self._shapes, {pool.instance_type for pool in pools}))
        if basis != self._basis:
            self._basis = basis
            self._note_unpriced(book, pools)
            self._model = AwsPricing(book, currency=self._currency, machines=self._machines(book, pools))

    def model(self) -> PricingModel:
        """Return the prices as of the last refresh. They do not change any more."""
        return self._model

    @property
    def _currency(self) -> str:
        return self._settings.currency or currency_of(self._region)

    def _machines(self, book: PriceBook, pools: Collection[Pool]) -> list[Machine]:
        """Return the kinds of machines in use, each at the price of its cheapest pool."""
        cheapest: dict[str, float] = {}
        for pool in pools:
            price = book.price(pool)
            if price is not None:
                cheapest[pool.instance_type] = min(price, cheapest.get(pool.instance_type, price))
        return [
            Machine(resources=resources_of(shape), price=price)
            for name, price in sorted(cheapest.items())
            if (shape := self._shapes(name)) is not None
        ]

    def _note_unpriced(self, book: PriceBook, pools: Collection[Pool]) -> None:
        types = {pool.instance_type for pool in pools}
        unpriced = frozenset(types - {pool.instance_type for pool in pools if book.price(pool) is not None})
        if unpriced and unpriced != self.unpriced:
            named = ", ".join(sorted(unpriced)[:_NAMED]) + (", …" if len(unpriced) > _NAMED else "")
            _log.warning(
                "no price is known of %d of %d instance types in use in %s (%s): groups of these alone take part in no "
                "comparison of prices; write what they cost in prices.overlay, or use prices.onDemand: api for new "
                "types, prices.spotRatio for spot",
                len(unpriced),
                len(types),
                self._region,
                named,
            )
        self.unpriced = unpriced
