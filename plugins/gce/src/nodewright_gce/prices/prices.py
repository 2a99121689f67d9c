"""Prices of the machines in use."""

import logging
from collections.abc import Collection, Iterator, Mapping
from random import Random

from nodewright.api import Clock, PricingModel

from nodewright_gce.calls.compute import Compute
from nodewright_gce.config.prices import OnDemandSource, PriceSettings
from nodewright_gce.pools import Pool
from nodewright_gce.prices.book import PriceBook
from nodewright_gce.prices.catalogue import rates_in
from nodewright_gce.prices.model import GcePricing, PodRates
from nodewright_gce.prices.rates import Item, Kind, Rate, Rates, series_of
from nodewright_gce.prices.schedule import RefreshSchedule
from nodewright_gce.prices.table import bundled

_log = logging.getLogger(__name__)
#: Of Google's prices, which are converted here: other currencies of the catalogue follow their own exchange rates.
_CURRENCY = "USD"
_NAMED = 5


class Prices:
    """Prices of the pools in use."""

    def __init__(
        self, compute: Compute, settings: PriceSettings, clock: Clock, *, chance: Random | None = None
    ) -> None:
        self._compute = compute
        self._settings = settings
        self._schedule = RefreshSchedule(clock, settings.on_demand_interval, chance or Random())
        self._listed: Mapping[str, Rates] = {}
        self._model = GcePricing(PriceBook(settings=settings), currency=self._currency)
        #: The model is made anew only when these change, or the catalogue was read.
        self._in_use: frozenset[Pool] = frozenset()
        #: Machine types in use whose price is unknown.
        self.unpriced: frozenset[str] = frozenset()

    def refresh(self, pools: Collection[Pool]) -> None:
        """Update the prices of *pools*, which are those of all groups. Called in `Provider.refresh`.

        Raises nothing if calls fail: known prices stay, and the failure is logged once.
        """
        in_use = frozenset(pools)
        was_read = bool(in_use) and self._read_if_due()
        if was_read or in_use != self._in_use:
            self._in_use = in_use
            book = PriceBook(settings=self._settings, rates=self._rates({_region(pool) for pool in in_use}))
            self._note_unpriced(book, in_use)
            self._model = GcePricing(book, currency=self._currency, rates=list(_pod_rates(book, in_use)))

    def model(self) -> PricingModel:
        """Return the prices as of the last refresh, which never change."""
        return self._model

    @property
    def _currency(self) -> str:
        return self._settings.currency or _CURRENCY

    def _read_if_due(self) -> bool:
        """Read the catalogue if it is time to; return whether that went well."""
        if self._settings.on_demand is not OnDemandSource.API or not self._schedule.due:
            return False
        before = self._listed
        with self._schedule.reading():
            self._listed = rates_in(self._compute.skus(_CURRENCY))
        return self._listed is not before

    def _rates(self, regions: Collection[str]) -> dict[str, Rates]:
        if self._settings.on_demand is OnDemandSource.OFF:
            return {}
        return {region: _joined(self._listed.get(region, {}), bundled().rates(region)) for region in regions}

    def _note_unpriced(self, book: PriceBook, pools: Collection[Pool]) -> None:
        types = {pool.machine_type for pool in pools if pool.machine_type}
        priced = {pool.machine_type for pool in pools if _has_price(book, pool)}
        unpriced = frozenset(types - priced)
        if unpriced and unpriced != self.unpriced:
            named = ", ".join(sorted(unpriced)[:_NAMED]) + (", …" if len(unpriced) > _NAMED else "")
            _log.warning(
                "no price is known for %d of %d machine types in use (%s): groups of only these take no part in price "
                "comparisons; write their prices in prices.overlay, or use prices.onDemand: api for new types, "
                "prices.spotRatio for spot",
                len(unpriced),
                len(types),
                named,
            )
        self.unpriced = unpriced


def _joined(rates: Rates, others: Rates) -> Rates:
    """Return *rates*, with what is unknown in them taken from *others*."""
    return {item: rates.get(item, Rate()).or_else(others.get(item, Rate())) for item in {**others, **rates}}


def _has_price(book: PriceBook, pool: Pool) -> bool:
    region, spot = _region(pool), pool.spot
    rule = book.rule(pool.machine_type, zone=pool.zone, region=region, spot=spot)
    if rule and rule.price is not None:
        return True
    whole = book.rate(region, Item(Kind.MACHINE, pool.machine_type), spot=spot)
    return whole is not None or book.rate(region, Item(Kind.CORE, series_of(pool.machine_type)), spot=spot) is not None


def _pod_rates(book: PriceBook, pools: Collection[Pool]) -> Iterator[PodRates]:
    """Yield the rates of the series in use, with the factors of the overlay."""
    for pool in sorted(pools):
        region, series, spot = _region(pool), series_of(pool.machine_type), pool.spot
        core = book.rate(region, Item(Kind.CORE, series), spot=spot)
        gib = book.rate(region, Item(Kind.MEMORY, series), spot=spot)
        if core is None or gib is None:
            continue
        rule = book.rule(pool.machine_type, zone=pool.zone, region=region, spot=spot)
        factor = ((rule and rule.factor) or 1.0) * (book.settings.exchange_rate or 1.0)
        gpu = _cheapest_gpu(book, region, spot=spot)
        yield PodRates(core=core * factor, gib=gib * factor, gpu=None if gpu is None else gpu * factor)


def _cheapest_gpu(book: PriceBook, region: str, *, spot: bool) -> float | None:
    gpus = [item for item in book.rates.get(region, {}) if item.kind is Kind.GPU]
    return min((rate for item in gpus if (rate := book.rate(region, item, spot=spot)) is not None), default=None)


def _region(pool: Pool) -> str:
    return pool.zone.rpartition("-")[0]
