"""Reservations: how many machines are still to be had of those that groups are bound to."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from nodewright.api import Clock

from nodewright_gce.calls.compute import Compute
from nodewright_gce.pools import Pool
from nodewright_gce.resources.address import Place
from nodewright_gce.resources.reservation import Reservation

#: Reservations of a zone are not read more often than this.
_PAUSE = timedelta(minutes=1)


class Reservations:
    """What is left of reservations. Read in `refresh` only, and only in zones where groups are bound to some."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        self._read_at: dict[Place, datetime] = {}
        #: By zone, and by the name of the pool.
        self._left: Mapping[Place, Mapping[str, int]] = {}

    def refresh(self, zones: Iterable[Place]) -> None:
        """Read the reservations of *zones* that are not known, or old."""
        now = self._clock.now()
        zones = sorted(set(zones))
        self._left = {zone: left for zone, left in self._left.items() if zone in zones}
        for zone in zones:
            if zone in self._read_at and now - self._read_at[zone] < _PAUSE:
                continue
            # Also if that fails.
            self._read_at[zone] = now
            self._left = {each: left for each, left in self._left.items() if each != zone}
            left = {
                str(Pool(zone=zone.name, reservation=each.name)): _left(each)
                for each in self._compute.reservations(zone)
            }
            self._left = {**self._left, zone: left}

    def room(self, project: str, pools: Iterable[Pool]) -> int | None:
        """Return how many machines can be had of *pools*; None if one is no reservation, or is not known."""
        total: int | None = None
        for pool in pools:
            left = self._left.get(Place(project=project, name=pool.zone), {}).get(str(pool))
            if left is None:
                return None
            total = (total or 0) + max(0, left)
        return total


def _left(reservation: Reservation) -> int:
    reserved = reservation.specific_reservation
    return int(reserved.count) - int(reserved.in_use_count)
