"""Histories of errors: why a group is short of machines where no machine of it shows why.

Google keeps the errors of each MIG for a while. They are read only for groups that are short without a word, and
rarely, because each read is charged like a change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.api import Clock, InstanceError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.causes import CREATING, cause_of
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.managed_instance import MigError

#: The history of a group is not read more often than this.
_PAUSE = timedelta(seconds=30)
#: Errors count from this long before the group was first seen to be short: it is seen late, and clocks differ.
_BEFORE = timedelta(minutes=2)
#: More causes than these are not told of one group.
_MOST = 4
#: Actions that are about machines which are to come.
_ABOUT_NEW = CREATING | {""}


@dataclass(frozen=True, kw_only=True)
class _Shortage:
    """A group that is short."""

    since: datetime
    read_at: datetime
    causes: tuple[InstanceError, ...] = ()


class History:
    """What the histories of groups say. Read in `refresh` only."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        #: By the id of the group.
        self._shortages: Mapping[str, _Shortage] = {}

    def refresh(self, short: Sequence[ManagedGroup], pool_of: Callable[[ManagedGroup], Pool]) -> None:
        """Read the histories of groups that are *short* without a reason, and forget the others.

        *pool_of* tells where their machines come from, as far as that is known.
        """
        now = self._clock.now()
        new = _Shortage(since=now - _BEFORE, read_at=now - _PAUSE)
        self._shortages = {each.address.id: self._shortages.get(each.address.id, new) for each in short}
        for group in short:
            shortage = self._shortages[group.address.id]
            if now - shortage.read_at >= _PAUSE:
                # Also if that fails: the others come first then.
                self._note(group, replace(shortage, read_at=now))
                causes = _causes(self._compute.mig_errors(group.address), shortage.since, pool_of(group))
                self._note(group, replace(shortage, read_at=now, causes=causes))

    def _note(self, group: ManagedGroup, shortage: _Shortage) -> None:
        self._shortages = {**self._shortages, group.address.id: shortage}

    def causes(self, group: str) -> Sequence[InstanceError]:
        """Return why a group, by its id, does not get the machines that it is asked for; the newest comes first."""
        shortage = self._shortages.get(group)
        return shortage.causes if shortage else ()


def _causes(errors: Sequence[MigError], since: datetime, pool: Pool) -> tuple[InstanceError, ...]:
    """Return the different causes in *errors*, which come with the newest first."""
    causes: dict[tuple[str, str], InstanceError] = {}
    for error in errors:
        if error.instance_action_details.action not in _ABOUT_NEW or _is_before(error.timestamp, since):
            continue
        cause = cause_of([error.error], pool)
        if cause is not None:
            causes.setdefault((cause.code, cause.pool), cause)
    return tuple(causes.values())[:_MOST]


def _is_before(timestamp: str, since: datetime) -> bool:
    try:
        return datetime.fromisoformat(timestamp) < since
    except (TypeError, ValueError):
        return False
