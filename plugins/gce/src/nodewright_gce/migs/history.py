"""Histories of errors: why a group is short of machines where no machine of it shows why.

Google keeps the errors of each MIG for a while. They are read only for groups that have been short without a word for
a while, and rarely, because each read is charged like a change.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nodewright.api import Clock, InstanceError

from nodewright_gce.calls.compute import Compute
from nodewright_gce.causes import CREATING, cause_of
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.managed_instance import MigError

#: A group that is short is not asked for its history sooner, and not more often, than this.
_PAUSE = timedelta(seconds=30)
#: So many histories are read in one refresh; the others are next.
_MOST_READS = 5
#: Above so many silent groups, calls for histories are saved elsewhere.
_MANY = 15
#: Errors count from this long before the group was last seen to be well: clocks differ.
_SKEW = timedelta(minutes=1)
#: More causes than these are not told of one group.
_MOST = 4
#: Actions that are about machines which are to come.
_ABOUT_NEW = CREATING | {""}


@dataclass(frozen=True, kw_only=True)
class _Silence:
    """A group that is short, and does not say why."""

    #: When it was last seen to be well, or to say why it is not.
    since: datetime
    #: When its history was read last, or else `since`.
    read_at: datetime
    causes: tuple[InstanceError, ...] = ()


class History:
    """What the histories of groups say. Read in `refresh` only."""

    def __init__(self, compute: Compute, clock: Clock) -> None:
        self._compute = compute
        self._clock = clock
        #: By the id of the group: when it was last seen to be well, or to say why it is not.
        self._heard: Mapping[str, datetime] = {}
        self._silences: Mapping[str, _Silence] = {}

    def in_place_of_machines(self) -> tuple[str, ...]:
        """Return the ids of groups that need not list their machines in the next refresh, which reads their histories.

        Only where many groups are silent: a machine may just be about to say why it does not come.
        """
        return self._due() if len(self._silences) > _MANY else ()

    def refresh(
        self,
        groups: Iterable[ManagedGroup],
        is_silent: Callable[[ManagedGroup], bool],
        pool_of: Callable[[ManagedGroup], Pool],
    ) -> None:
        """Read the histories of those of *groups* that have been silent about a shortage for a while.

        *pool_of* tells where their machines come from, as far as that is known.
        """
        now = self._clock.now()
        silent = {each.address.id: each for each in groups if is_silent(each)}
        self._heard = {
            **{each.address.id: now for each in groups},
            **{name: self._heard.get(name, now) for name in silent},
        }
        new = {name: _Silence(since=self._heard[name], read_at=self._heard[name]) for name in silent}
        self._silences = {name: self._silences.get(name, new[name]) for name in silent}
        for name in self._due():
            # Also if that fails: the others come first then.
            silence = replace(self._silences[name], read_at=now)
            self._silences = {**self._silences, name: silence}
            errors = self._compute.mig_errors(silent[name].address)
            causes = _causes(errors, silence.since - _SKEW, pool_of(silent[name]))
            self._silences = {**self._silences, name: replace(silence, causes=causes)}

    def causes(self, group: str) -> Sequence[InstanceError]:
        """Return why a group, by its id, does not get the machines that it is asked for; the newest comes first."""
        silence = self._silences.get(group)
        return silence.causes if silence else ()

    def _due(self) -> tuple[str, ...]:
        now = self._clock.now()
        due = [name for name, each in self._silences.items() if now - each.read_at >= _PAUSE]
        return tuple(sorted(due, key=lambda name: self._silences[name].read_at)[:_MOST_READS])


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
