"""Which groups are used, and within which limits: those named in the configuration, and those with the right tags."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from nodewright.api import GroupSpec

from nodewright_aws.autoscaling.group import AutoScalingGroup, parse_group
from nodewright_aws.calls import Calls
from nodewright_aws.group_specs import TagRule

#: The most groups that one call takes, and that one page holds.
_PAGE = 100

_log = logging.getLogger(__name__)


class Discovery:
    """Reads the groups that are used. For the provider's thread."""

    def __init__(self, aws: Calls, rules: Sequence[TagRule], named: Sequence[GroupSpec]) -> None:
        self._aws = aws
        # A rule that is written twice is asked once.
        self._rules = [rule for at, rule in enumerate(rules) if rule not in rules[:at]]
        self._named = tuple(dict.fromkeys(spec.name for spec in named))
        self._missing: frozenset[str] = frozenset()

    def read(self) -> tuple[AutoScalingGroup, ...]:
        """Return all groups that are named or that a rule finds, by name; without those that are being deleted."""
        found = {group.name: group for group in self._read()}
        self._warn_of_missing(frozenset(self._named) - found.keys())
        return tuple(found[name] for name in sorted(found))

    def _read(self) -> Iterator[AutoScalingGroup]:
        for begin in range(0, len(self._named), _PAGE):
            names = list(self._named[begin : begin + _PAGE])
            yield from read_groups(self._aws, AutoScalingGroupNames=names, MaxRecords=_PAGE)
        for rule in self._rules:
            for group in read_groups(self._aws, Filters=rule.filters, MaxRecords=_PAGE):
                if rule.matches(group.tags):
                    yield group

    def _warn_of_missing(self, missing: frozenset[str]) -> None:
        if missing - self._missing:
            _log.warning(
                "there is no Auto Scaling group named %s in %s: correct its name, or the region",
                ", ".join(sorted(missing)),
                self._aws.region,
            )
        self._missing = missing


class SizeLimits:
    """Minimum and maximum sizes: AWS' limits of a group, and within them the limits that it is *named* with."""

    def __init__(self, named: Iterable[GroupSpec]) -> None:
        self._named = {spec.name: spec for spec in named}
        self._logged: dict[str, tuple[int, int]] = {}

    def of(self, group: AutoScalingGroup) -> tuple[int, int]:
        """Return minimum and maximum; warn, once, if the group is named with limits that AWS would refuse."""
        spec = self._named.get(group.name)
        if spec is None:
            return group.min_size, group.max_size
        low, high = (min(max(size, group.min_size), group.max_size) for size in (spec.min_size, spec.max_size))
        if (low, high) == (spec.min_size, spec.max_size):
            self._logged.pop(group.name, None)
        elif self._logged.get(group.name) != (low, high):
            self._logged[group.name] = (low, high)
            _log.warning(
                "group %s is to have %d to %d machines, but AWS keeps it between %d and %d: %d to %d is what counts; "
                "change the group, or what it is named with",
                group.name,
                spec.min_size,
                spec.max_size,
                group.min_size,
                group.max_size,
                low,
                high,
            )
        return low, high


def read_groups(aws: Calls, **arguments: Any) -> Iterator[AutoScalingGroup]:
    """Yield the groups that ``DescribeAutoScalingGroups`` returns, without those that are being deleted."""
    for page in aws.pages("autoscaling", "describe_auto_scaling_groups", **arguments):
        for body in page["AutoScalingGroups"]:
            # Only a group that is being deleted has a status.
            if not body.get("Status"):
                yield parse_group(body)
