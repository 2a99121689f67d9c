"""Rates: what Google charges for each part of a machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from nodewright_gce.machine_types.info import family_of


class Kind(StrEnum):
    """A kind of part."""

    #: Of a series, such as ``n2``; per vCPU.
    CORE = "core"
    #: Of a series; per GiB.
    MEMORY = "memory"
    #: Of a type, such as ``nvidia-l4``.
    GPU = "gpu"
    #: Of a series, or of `ANY_SERIES`; per GiB.
    LOCAL_SSD = "localSsd"
    #: Of a type, such as ``pd-balanced``; per GiB.
    DISK = "disk"
    #: A machine type that is sold as a whole, with its GPUs and local SSDs.
    MACHINE = "machine"


ANY_SERIES = "any"


class Item(NamedTuple):
    """Something with a rate of its own."""

    kind: Kind
    name: str


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Prices per hour in USD; None if one is unknown."""

    on_demand: float | None = None
    spot: float | None = None

    def price(self, *, spot: bool, ratio: float | None = None) -> float | None:
        """Return the price of a machine that is *spot* or not; *ratio* of the on-demand price if spot is unknown."""
        if not spot:
            return self.on_demand
        if self.spot is None and self.on_demand is not None and ratio is not None:
            return self.on_demand * ratio
        return self.spot

    def or_else(self, other: "Rate") -> "Rate":
        """Return this rate, with what is unknown in it taken from *other*."""
        return Rate(
            on_demand=other.on_demand if self.on_demand is None else self.on_demand,
            spot=other.spot if self.spot is None else self.spot,
        )


#: The rates of a region.
Rates = Mapping[Item, Rate]

#: Types whose series is not what their name begins with, by the beginnings of their names.
_SERIES = {
    "m4-ultramem-224": "m4ultramem224",
    "a3-megagpu": "a3plus",
    "a3-ultragpu": "a3ultra",
}


def series_of(machine_type: str) -> str:
    """Return the series by whose rates Google charges for a machine type."""
    for beginning, series in _SERIES.items():
        if machine_type.startswith(beginning):
            return series
    return family_of(machine_type)
