"""Launches that failed: why a group does not get the machines that it is asked for."""

from collections.abc import Collection, Sequence

from nodewright.api import Clock, InstanceError

from nodewright_aws.calls import Calls
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.pools import Pool


class Activities:
    """Scaling activities of groups with unmet demand.

    `refresh` and the answers are for the provider's thread; `asked` may be called from any.
    """

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._clock = clock

    def asked(self, group_name: str) -> None:
        """Note that the group is asked for more machines now: what failed before does not count any more."""

    def refresh(self, short: Sequence[GroupReading]) -> None:
        """Read what happened lately to the groups that have fewer machines than they are asked for."""

    def failure(self, group: GroupReading, pools: Collection[Pool] = ()) -> InstanceError | None:
        """Return why the group's missing machines will not come; None if they may, or if AWS has not said."""
        return next(iter(self.failures(group, pools)), None)

    def failures(self, group: GroupReading, pools: Collection[Pool] = ()) -> tuple[InstanceError, ...]:
        """Return the reasons, the newest first: one for each of the group's *pools* that was found dry."""
        return ()
