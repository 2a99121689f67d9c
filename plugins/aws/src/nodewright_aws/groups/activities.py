"""Launches that failed: why a group does not get the machines that it is asked for.

AWS keeps a list of its attempts for each group, the newest first. Before a group is asked for more, the list is read:
what is over by then concerns an earlier wish, whatever the clocks say. Only for a demand that somebody else raised, or
we in a former life, the time of an attempt has to decide.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import islice
from threading import Lock
from typing import Any

from nodewright.api import Clock, InstanceError, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.groups.launches import Launch, Outcome, parse_launch
from nodewright_aws.groups.processes import refusal
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.groups.removal import HOPELESS
from nodewright_aws.pools import Pool

_Activity = Mapping[str, Any]

#: For more groups than this, the one list of all groups is read instead of one for each.
_MOST_GROUPS = 8
#: Of a hundred activities each.
_PAGES_OF_GROUP, _PAGES_OF_ALL = 2, 8
#: An attempt made before we were started is believed for as long.
_BELIEVED = timedelta(hours=1)
_SKEW = timedelta(minutes=1)
_OVER = frozenset({"Successful", "Failed", "Cancelled"})

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class _Watch:
    """What is known of one group's demand."""

    #: Activities that were over before it was raised.
    before: frozenset[str] = frozenset()
    #: By AWS' clock: what started earlier does not concern it. None while that is not known.
    since: datetime | None = None
    #: By our clock: the demand was not raised earlier. Where activities that were over before are not known.
    raised: datetime | None = None
    #: Whether AWS was seen to have fewer machines than asked for.
    short: bool = False
    launches: dict[str, Launch] = field(default_factory=dict)

    def take(self, activities: Iterable[_Activity]) -> bool:
        """Take in a page of activities; tell whether those of the next one concern an earlier demand."""
        earlier = False
        for activity in activities:
            # The newest come first, more or less, and those that are not over before them, however old they are.
            if self.concerns(activity):
                if launch := parse_launch(activity):
                    self.launches[launch.id] = launch
            elif activity["StatusCode"] in _OVER:
                earlier = True
        return earlier

    def concerns(self, activity: _Activity) -> bool:
        late = self.since is None or activity["StartTime"] >= self.since
        return late and activity["ActivityId"] not in self.before


class Activities:
    """What became of the machines that groups are asked for.

    `refresh` and the answers are for the provider's thread; `asked` may be called from any.
    """

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._clock = clock
        self._lock = Lock()
        self._watches: dict[str, _Watch] = {}
        self._refreshed: datetime | None = None

    def asked(self, name: str) -> None:
        """Note that the group is about to be asked for more: what failed so far does not count any more.

        To be called right before the demand is raised. Makes one call; if that fails, the time decides what counts.
        """
        watch = self._begin(name)
        with self._lock:
            self._watches[name] = watch

    def refresh(self, short: Sequence[GroupReading]) -> None:
        """Read what happened lately to the groups that have fewer machines than they are asked for.

        A handful of calls, however many groups there are. Raises what the last of them that failed raised.
        """
        now = self._clock.now()
        raised = self._refreshed or now - _BELIEVED
        self._refreshed = now
        with self._lock:
            watches = self._watch({group.name for group in short}, raised)
        if len(watches) > _MOST_GROUPS:
            self._read_all(watches)
        else:
            self._read_each(watches)

    def failure(self, group: GroupReading, pools: Collection[Pool] = ()) -> InstanceError | None:
        """Return why the group's missing machines will not come; None if they may, or if AWS has not said."""
        return next(iter(self.failures(group, pools)), None)

    def failures(self, group: GroupReading, pools: Collection[Pool] = ()) -> tuple[InstanceError, ...]:
        """Return the reasons, the newest first: one for each of the group's *pools* that was found dry.

        Nothing while AWS goes on: when an attempt succeeded, or was begun, after the newest that failed. AWS tries
        the other zones and types of a group by itself; an attempt that was begun with all of them dry is no hope.
        """
        if refused := refusal(group):
            return (refused,)
        watch = self._watches.get(group.name)
        launches = sorted(watch.launches.values(), key=_newest_first) if watch else []
        there = {instance.id for instance in group.instances}
        found: dict[tuple[str, str], InstanceError] = {}
        certain: tuple[InstanceError, ...] | None = None
        for launch in launches:
            if launch.cause is not None:
                for error in launch.cause.errors(pools):
                    found.setdefault((error.code, error.pool), error)
            elif launch.outcome is Outcome.SUCCEEDED:
                break
            elif launch.instance not in there and certain is None:
                certain = tuple(found.values())
        errors = tuple(found.values())
        if certain is None or (pools and {str(pool) for pool in pools} <= {error.pool for error in errors}):
            return errors
        return certain

    def _begin(self, name: str) -> _Watch:
        try:
            answer = self._aws.call("autoscaling", "describe_scaling_activities", AutoScalingGroupName=name)
        except NodewrightError as error:
            _log.debug("group %s grows without a look at its scaling activities: %s", name, error)
            return _Watch(raised=self._clock.now())
        over = [activity for activity in answer["Activities"] if activity["StatusCode"] in _OVER]
        return _Watch(
            before=frozenset(activity["ActivityId"] for activity in over),
            since=max((activity["StartTime"] for activity in over), default=None),
        )

    def _watch(self, names: Collection[str], raised: datetime) -> dict[str, _Watch]:
        """Return the watches of *names*, new ones for demands *raised* since; forget those whose demand was met."""
        for name, known in list(self._watches.items()):
            if known.short and name not in names:
                del self._watches[name]
        watches = {name: self._watches.setdefault(name, _Watch(raised=raised)) for name in sorted(names)}
        for watch in watches.values():
            watch.short = True
        return watches

    def _read_each(self, watches: Mapping[str, _Watch]) -> None:
        trouble: NodewrightError | None = None
        for name, watch in watches.items():
            pages = self._aws.pages("autoscaling", "describe_scaling_activities", AutoScalingGroupName=name)
            try:
                for page in islice(pages, _PAGES_OF_GROUP):
                    self._date(page, [watch])
                    if watch.take(page["Activities"]):
                        break
            except NodewrightError as error:
                trouble = error
                # The group may be gone by now; others are not.
                if isinstance(error, HOPELESS):
                    break
        if trouble is not None:
            raise trouble

    def _read_all(self, watches: Mapping[str, _Watch]) -> None:
        waiting = dict(watches)
        for page in islice(self._aws.pages("autoscaling", "describe_scaling_activities"), _PAGES_OF_ALL):
            self._date(page, waiting.values())
            of_group: dict[str, list[_Activity]] = defaultdict(list)
            for activity in page["Activities"]:
                of_group[activity["AutoScalingGroupName"]].append(activity)
            over = [activity["StartTime"] for activity in page["Activities"] if activity["StatusCode"] in _OVER]
            for name, watch in list(waiting.items()):
                passed = watch.since is not None and bool(over) and over[-1] < watch.since
                if watch.take(of_group[name]) or passed:
                    del waiting[name]
            if not waiting:
                break

    def _date(self, page: Mapping[str, Any], watches: Iterable[_Watch]) -> None:
        """Put into AWS' time when a demand was raised that is known by our clock only."""
        now = self._clock.now()
        headers = page.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        with_aws = parsedate_to_datetime(headers["date"]) if "date" in headers else now
        for watch in watches:
            if watch.since is None and watch.raised is not None:
                watch.since = with_aws - (now - watch.raised) - _SKEW


def _newest_first(launch: Launch) -> tuple[float, bool]:
    # Of those begun together, the one that failed tells what is to be expected.
    return -launch.started.timestamp(), launch.outcome is not Outcome.FAILED
