"""What machines are made from: pools, quotas and reservations, each of which may be used up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewright_gce.pools import Pool
from nodewright_gce.testing.group import Machine
from nodewright_gce.testing.supply import Supply
from nodewright_gce.testing.troubles import Trouble, error_of, quota_error


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a new machine of a group would be."""

    template: str
    version: str
    #: In order of preference, of all zones.
    pools: Sequence[Pool]
    #: What a machine of a type takes from quotas.
    takes: Mapping[str, Mapping[str, float]]
    #: Whether a flexibility policy chooses the type.
    flexible: bool = False


@dataclass(kw_only=True)
class Reservation:
    """Capacity that is paid for, used or not."""

    name: str
    zone: str
    machine_type: str
    count: int


class Capacity:
    """What is left for new machines, given the *machines* that there are."""

    def __init__(self, machines: Callable[[], Iterable[Machine]]) -> None:
        self.supply = Supply()
        #: Limits by region and metric.
        self.quotas: defaultdict[str, dict[str, float]] = defaultdict(dict)
        self.reservations: list[Reservation] = []
        self._machines = machines

    def grant(self, group: str, machine: Machine, plan: Plan) -> Mapping[str, Any] | None:
        """Take what a machine needs. If there is none, return why; None if nothing tells."""
        reason: Mapping[str, Any] | None = None
        silent = False
        machine.unseen = False
        for pool in (pool for pool in plan.pools if pool.zone == machine.zone):
            takes = plan.takes[pool.machine_type]
            shortage = self.supply.shortage(group, pool)
            if shortage is not None:
                silent = silent or shortage.silent
                machine.unseen = machine.unseen or shortage.unseen
                reason = reason or error_of(shortage.trouble, pool, machine.path, shortage.message)
            elif error := self.over_quota(pool, takes) or self._over_reservation(pool, machine):
                reason = reason or error
            else:
                self.supply.take(group, pool)
                machine.pool, machine.takes, machine.granted = pool, takes, True
                return None
        return None if silent else reason

    def give_back(self, group: str, machine: Machine) -> None:
        """Undo `grant`."""
        self.supply.give_back(group, machine.pool)
        machine.granted = False

    def usage(self, region: str) -> Counter[str]:
        """What is in use of each quota of a region."""
        used: Counter[str] = Counter()
        for machine in self._machines():
            if machine.granted and machine.zone.startswith(f"{region}-"):
                used.update(machine.takes)
        return used

    def in_use(self, reservation: str, zone: str) -> int:
        """How many machines a reservation has given."""
        return sum(
            machine.granted and (machine.pool.reservation, machine.zone) == (reservation, zone)
            for machine in self._machines()
        )

    def over_quota(self, pool: Pool, takes: Mapping[str, float], count: int = 1) -> Mapping[str, Any] | None:
        """Return why a quota has no room for *count* machines from *pool*; None if all have."""
        region = pool.zone.rpartition("-")[0]
        limits = self.quotas[region]
        held = [metric for metric in takes if metric in limits]
        used = self.usage(region) if held else Counter[str]()
        over = next((metric for metric in held if used[metric] + takes[metric] * count > limits[metric]), None)
        return quota_error(over, limits[over], region) if over else None

    def _over_reservation(self, pool: Pool, machine: Machine) -> Mapping[str, Any] | None:
        if not pool.reservation:
            return None
        matching = (each for each in self.reservations if (each.name, each.zone) == (pool.reservation, pool.zone))
        reserved = next(matching, None)
        if reserved is None:
            return error_of(Trouble.RESERVATION_MISSING, pool, machine.path)
        if reserved.machine_type != pool.machine_type:
            return error_of(Trouble.RESERVATION_INCOMPATIBLE, pool, machine.path)
        if self.in_use(pool.reservation, pool.zone) >= reserved.count:
            return error_of(Trouble.RESERVATION_FULL, pool, machine.path)
        return None
