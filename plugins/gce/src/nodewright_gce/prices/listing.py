"""Rates out of listed prices of whole machine types, for those who can't ask the billing catalogue."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright_gce.prices.rates import ANY_SERIES, Item, Kind, Rate, Rates


@dataclass(frozen=True, kw_only=True)
class _Probe:
    """A machine type that tells the rates of its series."""

    name: str
    cores: int
    gib: float
    ssd_gib: int = 0


def _of_eight(series: str, **gib: float) -> tuple[_Probe, ...]:
    """Return the types of 8 vCPUs, with the memory of each shape."""
    return tuple(_Probe(name=f"{series}-{shape}-8", cores=8, gib=each) for shape, each in gib.items())


#: By series, in the order of memory per core. Regions lack some.
_PROBES: Mapping[str, tuple[_Probe, ...]] = {
    "n1": _of_eight("n1", highcpu=7.2, standard=30, highmem=52),
    **{series: _of_eight(series, highcpu=8, standard=32, highmem=64) for series in ("e2", "n2", "n2d")},
    **{
        series: _of_eight(series, highcpu=16, standard=32, highmem=64)
        for series in ("c2d", "c3", "c3d", "c4a", "n4", "n4a", "n4d")
    },
    **{series: _of_eight(series, highcpu=16, standard=30, highmem=62) for series in ("c4", "c4n")},
    "c4d": _of_eight("c4d", highcpu=15, standard=31, highmem=63),
    **{series: _of_eight(series, standard=32) for series in ("c2", "t2a", "t2d")},
    "h3": (_Probe(name="h3-standard-88", cores=88, gib=352),),
    "m1": (_Probe(name="m1-megamem-96", cores=96, gib=1433.6), _Probe(name="m1-ultramem-40", cores=40, gib=961)),
    "m2": (_Probe(name="m2-megamem-416", cores=416, gib=5888), _Probe(name="m2-ultramem-416", cores=416, gib=11776)),
    "m3": (_Probe(name="m3-megamem-64", cores=64, gib=976), _Probe(name="m3-ultramem-32", cores=32, gib=976)),
    "m4": (_Probe(name="m4-megamem-56", cores=56, gib=744), _Probe(name="m4-ultramem-56", cores=56, gib=1488)),
    "m4ultramem224": (_Probe(name="m4-ultramem-224", cores=224, gib=5952),),
    "z3": (_Probe(name="z3-highmem-88-highlssd", cores=88, gib=704, ssd_gib=36000),),
}
#: A core costs as much as this many GiB, within 0.1 % in n1, n2, n2d, t2d, c2 and e2: for series that are listed with
#: one share of memory only, which has the right price whatever a core costs.
_GIB_PER_CORE = 7.46
#: GPUs by the type with one of them, and the series whose rates its cores and memory are reckoned at. All types with
#: such GPUs have them in the same share, so only their sum matters.
_GPUS: Mapping[str, tuple[str, str, _Probe]] = {
    "nvidia-tesla-a100": ("a2", "n2", _Probe(name="a2-highgpu-1g", cores=12, gib=85)),
    "nvidia-a100-80gb": ("a2", "n2", _Probe(name="a2-ultragpu-1g", cores=12, gib=170, ssd_gib=375)),
    "nvidia-h100-80gb": ("a3", "n2", _Probe(name="a3-highgpu-1g", cores=26, gib=234, ssd_gib=750)),
}
#: Two types with one L4 each.
_L4 = (_Probe(name="g2-standard-4", cores=4, gib=16), _Probe(name="g2-standard-8", cores=8, gib=32))
#: Types with more local SSDs than another, and by how many GiB; several for a series, as regions lack some.
_SSDS = (
    (ANY_SERIES, "z3-highmem-22-highlssd", "z3-highmem-22-standardlssd", 3000),
    (ANY_SERIES, "c3d-highmem-8-lssd", "c3d-highmem-8", 375),
    (ANY_SERIES, "c3d-standard-8-lssd", "c3d-standard-8", 375),
    (ANY_SERIES, "c3-standard-8-lssd", "c3-standard-8", 750),
    ("c4", "c4-standard-8-lssd", "c4-standard-8", 375),
    ("c4a", "c4a-standard-8-lssd", "c4a-standard-8", 750),
    ("c4d", "c4d-standard-8-lssd", "c4d-standard-8", 375),
)
#: Types that are listed as they are.
_WHOLE = ("f1-micro", "g1-small", "g4-", "a3-megagpu-")


def rates_of(on_demand: Mapping[str, float], spot: Mapping[str, float]) -> Rates:
    """Return the rates of a region behind its prices by machine type.

    What costs nothing, and spot that is no cheaper, are mistakes of the listing: such rates are unknown.
    """
    dear, cheap = _solved(on_demand), _solved(spot)
    return {
        item: Rate(on_demand=rate, spot=cheap[item] if 0 < cheap.get(item, 0) < rate else None)
        for item, rate in dear.items()
        if rate > 0
    }


def _solved(prices: Mapping[str, float]) -> dict[Item, float]:
    ssds = _local_ssds(prices)
    series = _series_rates(prices, ssds)
    whole = {Item(Kind.MACHINE, name): price for name, price in prices.items() if name.startswith(_WHOLE)}
    return {**ssds, **series, **_built_in_gpus(prices, ssds, series), **_l4(prices), **whole}


def _local_ssds(prices: Mapping[str, float]) -> dict[Item, float]:
    return {
        Item(Kind.LOCAL_SSD, series): (prices[more] - prices[fewer]) / gib
        for series, more, fewer, gib in _SSDS
        if more in prices and fewer in prices
    }


def _series_rates(prices: Mapping[str, float], ssds: Mapping[Item, float]) -> dict[Item, float]:
    rates: dict[Item, float] = {}
    for series, probes in _PROBES.items():
        known = [(each, price) for each in probes if (price := _without_ssds(each, prices, ssds)) is not None]
        if known:
            rates |= _series(series, *_core_and_gib(known))
    return rates


def _built_in_gpus(
    prices: Mapping[str, float], ssds: Mapping[Item, float], rates: Mapping[Item, float]
) -> dict[Item, float]:
    found: dict[Item, float] = {}
    for gpu, (series, like, probe) in _GPUS.items():
        price = _without_ssds(probe, prices, ssds)
        core, gib = rates.get(Item(Kind.CORE, like)), rates.get(Item(Kind.MEMORY, like))
        if price is not None and core is not None and gib is not None:
            found |= _series(series, core, gib)
            found[Item(Kind.GPU, gpu)] = price - probe.cores * core - probe.gib * gib
    return found


def _l4(prices: Mapping[str, float]) -> dict[Item, float]:
    few, many = _L4
    if few.name not in prices or many.name not in prices:
        return {}
    step = prices[many.name] - prices[few.name]
    core = step / (many.cores - few.cores + (many.gib - few.gib) / _GIB_PER_CORE)
    return {**_series("g2", core, core / _GIB_PER_CORE), Item(Kind.GPU, "nvidia-l4"): prices[few.name] - step}


def _core_and_gib(known: list[tuple[_Probe, float]]) -> tuple[float, float]:
    """Return the rates at which the first and the last of the *known* types cost what they do."""
    (one, price), (other, other_price) = known[0], known[-1]
    if one is other:
        core = price / (one.cores + one.gib / _GIB_PER_CORE)
        return core, core / _GIB_PER_CORE
    gib = (other_price * one.cores - price * other.cores) / (other.gib * one.cores - one.gib * other.cores)
    return (price - gib * one.gib) / one.cores, gib


def _series(name: str, core: float, gib: float) -> dict[Item, float]:
    return {Item(Kind.CORE, name): core, Item(Kind.MEMORY, name): gib}


def _without_ssds(probe: _Probe, prices: Mapping[str, float], ssds: Mapping[Item, float]) -> float | None:
    """Return the price of a type less that of its local SSDs; None if either is unknown."""
    price, ssd = prices.get(probe.name), ssds.get(Item(Kind.LOCAL_SSD, ANY_SERIES))
    if price is None or not probe.ssd_gib:
        return price
    return None if ssd is None else price - ssd * probe.ssd_gib
