"""The price of every machine, as of the last refresh."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from nodewright_gce.config.prices import MixedPrices, PriceRule, PriceSettings
from nodewright_gce.machine_types.hardware import Hardware
from nodewright_gce.prices.rates import ANY_SERIES, Item, Kind, Rates, series_of

_COMBINED: Mapping[MixedPrices, Callable[[Sequence[float]], float]] = {
    MixedPrices.HIGHEST: max,
    MixedPrices.LOWEST: min,
    MixedPrices.MEAN: fmean,
}
#: Custom shapes cost this much more than usual ones.
_CUSTOM = 1.05
#: Shapes that share a core are charged for one at most.
_SHARING = ("-micro", "-small", "-medium")
#: Types that look larger than they are, and cost less than Google's next larger type: pods that fill them starve. They
#: count as a little dearer than that.
_OVERCOMMITTED = {"e2-small": 1.0003, "e2-micro": 1.0006}
_MEDIUM_GIB = 4


@dataclass(frozen=True, kw_only=True)
class PriceBook:
    """Hourly prices. Immutable, so safe to read from any thread."""

    settings: PriceSettings
    #: By region.
    rates: Mapping[str, Rates] = field(default_factory=dict)

    def price_of_any(self, machines: Iterable[tuple[Hardware, str]]) -> float | None:
        """Return one price for a node that is any of *machines*, each in a zone; unknown prices do not count."""
        known = [price for machine, zone in machines if (price := self.price(machine, zone)) is not None]
        return _COMBINED[self.settings.mixed](known) if known else None

    def price(self, machine: Hardware, zone: str = "") -> float | None:
        """Return what *machine* costs in *zone*, which only the overlay asks for; None if that is unknown."""
        price = self._list_price(machine)
        if price is not None:
            price *= self.settings.exchange_rate or 1.0
        rule = self.rule(machine.machine_type, zone=zone, region=machine.region, spot=machine.spot)
        return rule.applied(price) if rule else price

    def rule(self, machine_type: str, *, zone: str, region: str, spot: bool) -> PriceRule | None:
        """Return the rule of the overlay that counts for such machines."""
        rules = (
            each for each in self.settings.overlay if each.matches(machine_type, zone=zone, region=region, spot=spot)
        )
        return next(rules, None)

    def rate(self, region: str, item: Item, *, spot: bool) -> float | None:
        """Return Google's rate, in USD."""
        rate = self.rates.get(region, {}).get(item)
        return rate.price(spot=spot, ratio=self.settings.spot_ratio) if rate else None

    def _list_price(self, machine: Hardware) -> float | None:
        """Return Google's price, in USD."""
        whole = self._rate(machine, Kind.MACHINE, machine.machine_type)
        if whole is not None:
            return whole + self._boot_disk(machine)
        parts = [*self._shape(machine), *self._gpus(machine), self._local_ssds(machine)]
        if None in parts:
            return None
        return sum(part for part in parts if part is not None) + self._boot_disk(machine)

    def _shape(self, machine: Hardware) -> Iterable[float | None]:
        """Yield the price of cores and of memory."""
        series = series_of(machine.machine_type)
        factor = _OVERCOMMITTED.get(machine.machine_type, 1.0)
        gib = _MEDIUM_GIB if factor > 1 else machine.memory_mib / 1024
        cores = 1 if any(name in machine.machine_type for name in _SHARING) else machine.vcpus
        if "custom-" in machine.machine_type:
            factor = _CUSTOM
        yield _times(self._rate(machine, Kind.CORE, series), cores * factor)
        yield _times(self._rate(machine, Kind.MEMORY, series), gib * factor)

    def _gpus(self, machine: Hardware) -> Iterable[float | None]:
        for name, count in machine.gpus.items():
            yield _times(self._rate(machine, Kind.GPU, name), count)

    def _local_ssds(self, machine: Hardware) -> float | None:
        if not machine.local_ssd_gib:
            return 0.0
        series = series_of(machine.machine_type)
        has_own = Item(Kind.LOCAL_SSD, series) in self.rates.get(machine.region, {})
        return _times(self._rate(machine, Kind.LOCAL_SSD, series if has_own else ANY_SERIES), machine.local_ssd_gib)

    def _boot_disk(self, machine: Hardware) -> float:
        """Return the price of the disk, which is small: where it is unknown, the rest is still worth comparing."""
        rate = self.rate(machine.region, Item(Kind.DISK, machine.boot_disk), spot=False)
        return (rate or 0.0) * machine.boot_disk_gib

    def _rate(self, machine: Hardware, kind: Kind, name: str) -> float | None:
        return self.rate(machine.region, Item(kind, name), spot=machine.spot)


def _times(rate: float | None, amount: float) -> float | None:
    return None if rate is None else rate * amount
