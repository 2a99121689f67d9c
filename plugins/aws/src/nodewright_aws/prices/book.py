"""What every pool costs, as of the last refresh."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from nodewright_aws.pools import Lifecycle, Pool
from nodewright_aws.prices.settings import Mixed, PriceSettings

_COMBINED: Mapping[Mixed, Callable[[Sequence[float]], float]] = {
    Mixed.HIGHEST: max,
    Mixed.LOWEST: min,
    Mixed.MEAN: fmean,
}


@dataclass(frozen=True, kw_only=True)
class PriceBook:
    """Prices for an hour. Says the same for good; safe to read from any thread."""

    region: str
    settings: PriceSettings
    #: By place and instance type: a place is a region, or a zone that has prices of its own.
    on_demand: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: By zone and instance type.
    spot: Mapping[tuple[str, str], float] = field(default_factory=dict)
    #: What was reckoned before: thousands of pools are asked for again and again, each held against all rules.
    _reckoned: dict[Pool, float | None] = field(default_factory=dict, compare=False, repr=False)

    def price(self, pool: Pool) -> float | None:
        """Return what a machine of *pool* costs, None if that is not known."""
        if pool not in self._reckoned:
            self._reckoned[pool] = self._reckon(pool)
        return self._reckoned[pool]

    def price_of_any(self, pools: Iterable[Pool]) -> float | None:
        """Return what a machine costs that comes from one of *pools*: of those whose price is known."""
        known = [price for price in map(self.price, pools) if price is not None]
        return _COMBINED[self.settings.mixed](known) if known else None

    def _reckon(self, pool: Pool) -> float | None:
        price = self._asked(pool)
        if price is not None:
            price *= self.settings.exchange_rate or 1.0
        rule = next((rule for rule in self.settings.overlay if rule.matches(pool, self.region)), None)
        return rule.applied(price) if rule else price

    def _asked(self, pool: Pool) -> float | None:
        """Return what AWS asks, in its own currency."""
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
    """Return whose prices on demand hold in *zone*: the region's, or those of a local zone such as us-west-2-lax-1."""
    if not zone.startswith(f"{region}-"):
        return region
    return zone[:-1] if zone[-1].isalpha() else zone
