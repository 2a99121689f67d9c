"""Capacity pools: what AWS launches instances from, and what runs dry."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

#: Annotation of a template with the names of the pools that its group launches from, separated by commas.
POOLS_ANNOTATION = "aws.nodewright.dev/pools"


class Lifecycle(StrEnum):
    """The purchase option of an instance."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"


@dataclass(frozen=True, kw_only=True, order=True)
class Pool:
    """Capacity for instances of one type in one zone with one purchase option."""

    zone: str
    instance_type: str
    lifecycle: Lifecycle = Lifecycle.ON_DEMAND

    def __str__(self) -> str:
        """The name as in `nodewright.api.NodeGroup.pools`: ``zone/type``, with ``/spot`` at its end for spot."""
        name = f"{self.zone}/{self.instance_type}"
        return f"{name}/spot" if self.lifecycle is Lifecycle.SPOT else name

    @classmethod
    def parse(cls, name: str) -> "Pool":
        """Return the pool of that *name*; raises `ValueError`."""
        match name.split("/"):
            case [zone, instance_type] if zone and instance_type:
                return cls(zone=zone, instance_type=instance_type)
            case [zone, instance_type, Lifecycle.SPOT] if zone and instance_type:
                return cls(zone=zone, instance_type=instance_type, lifecycle=Lifecycle.SPOT)
        raise ValueError(f"{name!r} is no capacity pool: write zone/type or zone/type/spot")


def join(pools: Iterable[Pool]) -> str:
    """Return *pools* as the value of `POOLS_ANNOTATION`."""
    return ",".join(map(str, pools))


def split(annotation: str) -> tuple[Pool, ...]:
    """Return the pools in a value of `POOLS_ANNOTATION`; raises `ValueError`."""
    return tuple(Pool.parse(name) for name in annotation.split(",") if name)
