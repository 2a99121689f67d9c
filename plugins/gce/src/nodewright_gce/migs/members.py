"""The machines of groups, listed when something about a group has changed, and otherwise taken as they were."""

import re
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from zlib import crc32

from nodewright_gce.resources.address import Address
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig

#: Machines are listed again after this time, and up to twice of it, spread over groups. Until then, what the row of a
#: group in its list does not show is not noticed, such as a machine that was stopped and that nothing repairs.
_KEPT = timedelta(minutes=10)
#: A node that no group has is looked for once in this time: most such nodes are not of a group.
_SOUGHT = timedelta(minutes=5)
_PROVIDER_ID = re.compile(r"gce://([^/]+)/([^/]+)/([^/]+)")
_MOST_SOUGHT = 10_000


@dataclass(frozen=True, kw_only=True)
class _Listing:
    machines: tuple[ManagedInstance, ...]
    row: object
    #: Whether the row was the same when machines were listed before: the two may lag behind each other.
    settled: bool
    at: datetime


class Members:
    """Which machines each group has, and whether they have to be listed. Any thread may call."""

    def __init__(self, min_wait: timedelta) -> None:
        self._min_wait = min_wait
        self._listings: dict[Address, _Listing] = {}
        self._lock = Lock()
        self._touched: set[Address] = set()
        self._unknown: set[str] = set()
        self._sought: dict[str, datetime] = {}

    def touch(self, address: Address) -> None:
        """Have the machines of a group listed at the next refresh."""
        with self._lock:
            self._touched.add(address)

    def seek(self, provider_id: str) -> None:
        """Have the machines of groups listed that may have made a node, if that was not done lately."""
        with self._lock:
            self._unknown.add(provider_id)

    def of(self, address: Address) -> tuple[ManagedInstance, ...]:
        """Return the machines of a group, as they were listed last."""
        listing = self._listings.get(address)
        return listing.machines if listing else ()

    def keep(self, address: Address, mig: Mig, machines: Sequence[ManagedInstance], now: datetime) -> None:
        """Take in the *machines* of a group, which were just listed, when its row was *mig*."""
        row = _row(mig)
        before = self._listings.get(address)
        listed = tuple(machines)
        if before and before.machines == listed:
            listed = before.machines
        settled = before.row == row if before else len(listed) == _listed_if_at_rest(mig)
        self._listings[address] = _Listing(machines=listed, row=row, settled=settled, at=now)

    def forget_others(self, used: Set[Address]) -> None:
        """Forget the machines of groups that are not *used*."""
        self._listings = {address: each for address, each in self._listings.items() if address in used}

    def to_list(
        self, migs: Sequence[tuple[Address, Mig]], asked: Collection[str], now: datetime
    ) -> list[tuple[Address, Mig]]:
        """Return those of the groups that could be read whose machines have to be listed now.

        Of the groups with the ids *asked*, only those that have changed are.
        """
        with self._lock:
            touched = self._touched & {address for address, _ in migs}
            self._touched -= touched
            unknown, self._unknown = self._unknown, set()
        touched |= self._makers(migs, unknown, now)
        return [
            (address, mig)
            for address, mig in migs
            if address in touched or self._is_due(address, mig, now, asked=address.id in asked)
        ]

    def _is_due(self, address: Address, mig: Mig, now: datetime, *, asked: bool) -> bool:
        listing = self._listings.get(address)
        if listing is None:
            return True
        age = now - listing.at
        if age < self._min_wait:
            return False
        unsteady = not mig.status.is_stable or any(
            count for action, count in mig.current_actions.items() if action != "none"
        )
        spread = 1 + crc32(address.id.encode()) / 2**32
        changed = not listing.settled or listing.row != _row(mig)
        return changed or (unsteady and not asked) or age >= _KEPT * spread

    def _makers(self, migs: Sequence[tuple[Address, Mig]], unknown: set[str], now: datetime) -> set[Address]:
        """Return the groups whose machines are named like nodes that no group has."""
        self._sought = {each: at for each, at in self._sought.items() if now - at < _SOUGHT}
        found: set[Address] = set()
        for provider_id in unknown - self._sought.keys():
            if len(self._sought) < _MOST_SOUGHT:
                self._sought[provider_id] = now
            if parts := _PROVIDER_ID.fullmatch(provider_id):
                found |= {address for address, mig in migs if _may_make(address, mig, *parts.groups())}
        return found


def _may_make(address: Address, mig: Mig, project: str, zone: str, name: str) -> bool:
    place = address.place
    here = zone.rpartition("-")[0] == place.name if place.regional else zone == place.name
    return here and project == place.project and name.startswith(f"{mig.base_instance_name}-")


def _listed_if_at_rest(mig: Mig) -> int:
    return mig.target_size + mig.target_stopped_size + mig.target_suspended_size


def _row(mig: Mig) -> object:
    """What of the row of a group changes when its machines do."""
    return (
        mig.target_size,
        mig.target_stopped_size,
        mig.target_suspended_size,
        mig.current_actions,
        mig.status.is_stable,
        mig.instance_template,
        mig.versions,
    )
