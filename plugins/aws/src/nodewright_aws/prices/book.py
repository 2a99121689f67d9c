"""The price of every pool, as of the last refresh."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from nodewright_aws.config import MixedPrices, PriceSettings
from nodewright_aws.pools import Lifecycle, Pool

_COMBINED: Mapping[MixedPrices, Callable[[Sequence[float]], float]] = {
    MixedPrices.HIGHEST: max,
    MixedPrices.LOWEST: min,
    MixedPrices.MEAN: fmean,
}


@dataclass(frozen=True, kw_only=True)
class PriceBook:
    """Hourly prices. Immutable, so safe to read from any thread."""

    region: str
    settings: PriceSettings
    #: By place and instance type. A place is a region, or a local zone with prices of its own.
    on_demand: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: By zone and instance type.
    spot: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: Results, because thousands of pools are looked up repeatedly and each is matched against all rules.
    _computed: dict[Pool, float | None] = field(default_factory=dict, compare=False, repr=False)

    def price(self, pool: Pool) -> float | None:
        """Return the price of *pool*; None if it is unknown."""
        if pool not in self._computed:
            self._computed[pool] = self._compute(pool)
        return self._computed[pool]

    def price_of_any(self, pools: Iterable[Pool]) -> float | None:
        """Return one price for a machine from any of *pools*; unknown prices do not count."""
        known = [price for price in map(self.price, pools) if price is not None]
        return _COMBINED[self.settings.mixed](known) if known else None

    def _compute(self, pool: Pool) -> float | None:
        price = self._list_price(pool)
        if price is not None:
            price *= self.settings.exchange_rate or 1.0
        rule = next((rule for rule in self.settings.overlay if rule.matches(pool, self.region)), None)
        return rule.applied(price) if rule else price

    def _list_price(self, pool: Pool) -> float | None:
        """Return AWS' price, in its own currency."""
        on_demand = self.on_demand.get((place_of(pool.zone, self.region), pool.instance_type))
        if pool.lifecycle is Lifecycle.ON_DEMAND:
            return on_demand
        if pool.zone:
            spot = self.spot.get((pool.zone, pool.instance_type))
        else:
            anywhere = [price for (_, name), price in self.spot.items() if name == pool.instance_type]
            spot = _COMBINED[self.settings.mixed](anywhere) if anywhere else None
        if spot is None and on_demand is not None and self.settings.spot_ratio is not None:
            return on_demand * self.settings.spot_ratio
        return spot


def place_of(zone: str, region: str) -> str:
    """Return the place whose on-demand prices apply in *zone*: *region*, or a local zone such as us-west-2-lax-1."""
    if not zone.startswith(f"{region}-"):
        return region
    return zone[:-1] if zone[-1].isalpha() else zone
