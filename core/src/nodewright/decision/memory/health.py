"""Health: what failed, what is missing, and since when."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Self, TypeVar

from nodewright.api.decision import Outcome
from nodewright.api.instance import ErrorClass
from nodewright.decision.memory.slices import Slice

T = TypeVar("T")

#: No cloud is left alone for longer on one word of it.
LONGEST_RESPITE = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Backoff:
    """A group that failed to grow, or a pool that ran dry, and is left alone for a while."""

    until: datetime
    pause: timedelta
    failed_at: datetime
    error_class: ErrorClass
    code: str
    #: The capacity pool that ran dry, or the quota that is full; empty if none, or the cloud did not say which.
    pool: str = ""
    #: What the cloud said.
    message: str = ""
    #: Of a quota: the group that was refused, and how much one of its machines takes.
    group: str = ""
    amount: int = 0


@dataclass(frozen=True, kw_only=True)
class Shortage:
    """A group that has fewer machines than it is wanted to have."""

    #: Since when both numbers are what they are.
    since: datetime
    machines: int
    target: int


@dataclass(frozen=True, kw_only=True)
class HealthMemory(Slice):
    """What the assessment of groups remembers. Owned by the stage `health`."""

    #: By group.
    backoffs: dict[str, Backoff] = field(default_factory=dict)
    #: Pools that ran dry, by provider and pool.
    pools: dict[str, Backoff] = field(default_factory=dict)
    #: Quotas that are full, by provider and quota.
    quotas: dict[str, Backoff] = field(default_factory=dict)
    #: By group.
    shortages: dict[str, Shortage] = field(default_factory=dict)
    #: When each machine that is no node yet was first seen.
    unregistered_since: dict[str, datetime] = field(default_factory=dict)
    #: When each machine that the cloud could not make was first seen to have failed.
    failed_since: dict[str, datetime] = field(default_factory=dict)
    #: When each reason why machines do not come, which no machine shows, was first seen; by group, and by its name.
    errors: dict[str, dict[str, datetime]] = field(default_factory=dict)
    #: When each machine that has a node was last seen to be stopped, as long as it may take to be back in service.
    stopped_at: dict[str, datetime] = field(default_factory=dict)
    #: Which one of the machines that have had the same id is meant, by the ids in other fields that tell it.
    incarnations: dict[str, str] = field(default_factory=dict)
    #: Since when too many nodes of the cluster are unready; None while it is well.
    unhealthy_since: datetime | None = None
    #: Until when a group is not asked for an action because its cloud asked for fewer calls; by group and action.
    respites: dict[str, dict[str, datetime]] = field(default_factory=dict)

    def assessed(
        self,
        backoffs: dict[str, Backoff],
        pools: dict[str, Backoff],
        quotas: dict[str, Backoff],
        shortages: dict[str, Shortage],
        unregistered_since: dict[str, datetime],
        failed_since: dict[str, datetime],
        errors: dict[str, dict[str, datetime]],
        stopped_at: dict[str, datetime],
        incarnations: dict[str, str],
        unhealthy_since: datetime | None,
    ) -> Self:
        """Return the memory after an assessment of all groups, which says everything anew but `respites`."""
        return replace(
            self,
            backoffs=backoffs,
            pools=pools,
            quotas=quotas,
            shortages=shortages,
            unregistered_since=unregistered_since,
            failed_since=failed_since,
            errors=errors,
            stopped_at=stopped_at,
            incarnations=incarnations,
            unhealthy_since=unhealthy_since,
        )

    def without(self, machines: Collection[str]) -> Self:
        """Return the memory without what is known of *machines*."""
        return replace(
            self,
            unregistered_since=_without(self.unregistered_since, machines),
            failed_since=_without(self.failed_since, machines),
            stopped_at=_without(self.stopped_at, machines),
            incarnations=_without(self.incarnations, machines),
        )

    def backed_off(self, backoffs: dict[str, Backoff]) -> Self:
        """Return the memory with these *backoffs* of groups."""
        return replace(self, backoffs=backoffs)

    def respited(self, outcomes: Iterable[Outcome]) -> Self:
        """Return the memory with the respites that clouds asked for in *outcomes*."""
        respites = self.respites
        for outcome in outcomes:
            if outcome.group and outcome.not_before is not None:
                known = respites.get(outcome.group, {})
                respites = {**respites, outcome.group: {**known, outcome.action: outcome.not_before}}
        return self if respites is self.respites else replace(self, respites=respites)

    def without_past_respites(self, now: datetime) -> Self:
        """Return the memory with the respites that last at *now*.

        One that lasts longer than any may is dropped: the clock was set back.
        """
        if not self.respites:
            return self
        respites = {
            group: lasting
            for group, known in self.respites.items()
            if (lasting := {what: until for what, until in known.items() if now < until <= now + LONGEST_RESPITE})
        }
        return replace(self, respites=respites)

    def respite(self, group: str, action: str) -> datetime | None:
        """Return until when *group* is not asked for *action* (see `Outcome.action`); None if it may be asked."""
        return self.respites.get(group, {}).get(action)

    @property
    def respites_end(self) -> datetime | None:
        """When the first respite ends; None if there is none."""
        return min((until for known in self.respites.values() for until in known.values()), default=None)

    def after_absence(self) -> Self:
        """Keep back-offs, respites, and what failed; a machine that did not come may have been unable to."""
        return replace(self, unregistered_since={}, shortages={}, unhealthy_since=None)


def _without(known: Mapping[str, T], machines: Collection[str]) -> dict[str, T]:
    return {id_: value for id_, value in known.items() if id_ not in machines}
