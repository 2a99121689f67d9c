"""Quotas of regions: how much of each is left."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from nodewright.api import Clock

from nodewright_gce.calls.compute import Compute
from nodewright_gce.causes import quota_name
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.region import Quota

#: Quotas of a region are not read more often than this.
_PAUSE = timedelta(minutes=1)


class Quotas:
    """What is left of the quotas of regions. Read in `refresh` only."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._read_at: dict[Place, datetime] = {}
        self._left: Mapping[Place, Mapping[str, float]] = {}

    def refresh(self, places: Iterable[Place]) -> None:
        """Read the quotas of the regions of *places* that are not known, or old."""
        now = self._clock.now()
        regions = sorted({_region_of(each) for each in places})
        self._left = {region: left for region, left in self._left.items() if region in regions}
        for region in regions:
            if region in self._read_at and now - self._read_at[region] < _PAUSE:
                continue
            # Also if that fails.
            self._read_at[region] = now
            self._left = {each: left for each, left in self._left.items() if each != region}
            quotas = self._compute.region(region).quotas
            left = {quota_name(region.name, each.metric): each.limit - each.usage for each in quotas if _limits(each)}
            self._left = {**self._left, region: left}

    def room(self, place: Place, takes: Mapping[str, int]) -> int | None:
        """Return for how many machines in *place* there is room, each of which *takes* so much of quotas by name.

        None if that is not known.
        """
        left = self._left.get(_region_of(place), {})
        rooms = [int(left[name] // amount) for name, amount in takes.items() if amount > 0 and name in left]
        return max(0, min(rooms)) if rooms else None


def _limits(quota: Quota) -> bool:
    """Whether a quota counts: without one for what is preemptible, Google takes that from the others."""
    return quota.limit > 0 or (quota.limit == 0 and not quota.metric.startswith("PREEMPTIBLE_"))


def _region_of(place: Place) -> Place:
    return Place(project=place.project, name=place.region, regional=True)
