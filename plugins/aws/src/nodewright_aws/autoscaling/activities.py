"""Scaling activities: why a group does not get the instances that it is asked for.

AWS keeps a list of activities for each group, the newest first. The list is read before a group is asked for more: what
is over by then belongs to an earlier order, whatever the clocks say. The start time of an activity decides only for an
order that is not ours, or was given by a previous process.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import Enum
from itertools import islice
from threading import Lock
from typing import Any

from nodewright.api import Clock, InstanceError, NodewrightError

from nodewright_aws.autoscaling.causes import Cause, cause_of
from nodewright_aws.autoscaling.group import AutoScalingGroup
from nodewright_aws.autoscaling.processes import refusal
from nodewright_aws.calls import Calls
from nodewright_aws.calls.errors import HOPELESS
from nodewright_aws.pools import Pool

#: An activity as boto3 returns it.
_Activity = Mapping[str, Any]

#: For more groups than this, one list of all groups is read instead of one for each.
_MOST_GROUPS = 8
#: Pages of a hundred activities each.
_PAGES_OF_GROUP, _PAGES_OF_ALL = 2, 8
#: An activity from before this process started counts for this long.
_COUNTS_FOR = timedelta(hours=1)
_SKEW = timedelta(minutes=1)
_OVER = frozenset({"Successful", "Failed", "Cancelled"})
_INSTANCE = re.compile(r"\bi-[0-9a-f]{8,17}\b")

_log = logging.getLogger(__name__)


class LaunchStatus(Enum):
    """What became of a launch."""

    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True)
class LaunchActivity:
    """One attempt of AWS to launch an instance for a group."""

    id: str
    started: datetime
    status: LaunchStatus
    #: The instance, if AWS got that far.
    instance: str = ""
    #: Set with FAILED.
    cause: Cause | None = None


def parse_launch(body: _Activity) -> LaunchActivity | None:
    """Return the launch that an activity describes; None if it launches nothing for the group, or says nothing."""
    described = body.get("Description", "")
    if (described and not described.startswith(("Launching", "Placing"))) or "into warm pool" in described:
        return None
    message = body.get("StatusMessage", "") or described.partition("Status Reason:")[2].strip()
    cause = None
    match body["StatusCode"]:
        case "Successful":
            status = LaunchStatus.SUCCEEDED
        case "Failed" | "Cancelled" as code:
            status, cause = LaunchStatus.FAILED, cause_of(message, _zone(body.get("Details", "")))
            # A launch that was cancelled without a reason was no longer wanted.
            if cause is None or (code == "Cancelled" and cause.code == "LaunchFailed"):
                return None
        case _:
            status = LaunchStatus.OPEN
    instance = _INSTANCE.search(described)
    return LaunchActivity(
        id=body["ActivityId"],
        started=body["StartTime"],
        status=status,
        instance=instance[0] if instance else "",
        cause=cause,
    )


def _zone(details: str) -> str:
    try:
        known = json.loads(details)
    except ValueError:
        return ""
    return str(known.get("Availability Zone", "")) if isinstance(known, dict) else ""


@dataclass(kw_only=True)
class _Watch:
    """What is known of one group's latest order."""

    #: Activities that were over before the order.
    before: frozenset[str] = frozenset()
    #: By AWS' clock: activities that started earlier do not belong to the order. None while that is unknown.
    since: datetime | None = None
    #: By our clock: the order is not older than this. Set if `before` is unknown.
    ordered: datetime | None = None
    #: Whether AWS was seen to have fewer instances than desired.
    short: bool = False
    launches: dict[str, LaunchActivity] = field(default_factory=dict)

    def take(self, activities: Iterable[_Activity]) -> bool:
        """Take in a page of activities; tell whether those of the next page belong to an earlier order."""
        earlier = False
        for activity in activities:
            # The newest come first, more or less; those that are not over come before them, however old they are.
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
    """What became of the instances that groups were asked for.

    `refresh` and the answers are for the provider's thread; `asked` may be called from any.
    """

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._clock = clock
        self._lock = Lock()
        self._watches: dict[str, _Watch] = {}
        self._refreshed: datetime | None = None

    def asked(self, name: str) -> None:
        """Note that the group is about to be asked for more: failures up to now no longer count.

        Call it right before the order. Makes one call; if that fails, the start times of activities decide what counts.
        """
        watch = self._begin(name)
        with self._lock:
            self._watches[name] = watch

    def refresh(self, short: Sequence[AutoScalingGroup]) -> None:
        """Read the recent activities of the groups that have fewer instances than desired.

        A handful of calls, however many groups there are. If calls fail, raises the error of the last of them.
        """
        now = self._clock.now()
        ordered = self._refreshed or now - _COUNTS_FOR
        self._refreshed = now
        with self._lock:
            watches = self._watch({group.name for group in short}, ordered)
        if len(watches) > _MOST_GROUPS:
            self._read_all(watches)
        else:
            self._read_each(watches)

    def failure(self, group: AutoScalingGroup, pools: Collection[Pool] = ()) -> InstanceError | None:
        """Return why the group's missing instances will not come; None if they may, or if AWS has not said."""
        return next(iter(self.failures(group, pools)), None)

    def failures(self, group: AutoScalingGroup, pools: Collection[Pool] = ()) -> tuple[InstanceError, ...]:
        """Return the reasons, the newest first: one for each of the group's *pools* that ran dry.

        Nothing while AWS goes on: when a launch succeeded or started after the newest failure. AWS tries the other
        zones and types of a group by itself; a launch that started with all of them dry does not count as going on.
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
            elif launch.status is LaunchStatus.SUCCEEDED:
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
            return _Watch(ordered=self._clock.now())
        over = [activity for activity in answer["Activities"] if activity["StatusCode"] in _OVER]
        return _Watch(
            before=frozenset(activity["ActivityId"] for activity in over),
            since=max((activity["StartTime"] for activity in over), default=None),
        )

    def _watch(self, names: Collection[str], ordered: datetime) -> dict[str, _Watch]:
        """Return the watches of *names*, new ones for orders *ordered* since; forget groups whose order was met."""
        for name, known in list(self._watches.items()):
            if known.short and name not in names:
                del self._watches[name]
        watches = {name: self._watches.setdefault(name, _Watch(ordered=ordered)) for name in sorted(names)}
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
                # This group may be gone by now while the others are not.
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
        """Convert to AWS' time when orders were given whose time is known by our clock only."""
        now = self._clock.now()
        headers = page.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        with_aws = parsedate_to_datetime(headers["date"]) if "date" in headers else now
        for watch in watches:
            if watch.since is None and watch.ordered is not None:
                watch.since = with_aws - (now - watch.ordered) - _SKEW


def _newest_first(launch: LaunchActivity) -> tuple[float, bool]:
    # Of launches that started together, the failed one says what to expect.
    return -launch.started.timestamp(), launch.status is not LaunchStatus.FAILED
