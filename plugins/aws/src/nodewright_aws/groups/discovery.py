"""Groups found: those named by hand, and those that have the right tags."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any

from nodewright.api import GroupSpec

from nodewright_aws.calls import Calls
from nodewright_aws.groups.reading import GroupReading, parse_group
from nodewright_aws.groups.specs import TagRule

#: What AWS gives in one page at most, and takes in one call.
_PAGE = 100

_log = logging.getLogger(__name__)


class Discovery:
    """Reads the groups that are ours. For the provider's thread."""

    def __init__(self, aws: Calls, rules: Sequence[TagRule], named: Sequence[GroupSpec]) -> None:
        self._aws = aws
        # A rule that is written twice is asked once.
        self._rules = [rule for at, rule in enumerate(rules) if rule not in rules[:at]]
        self._named = tuple(dict.fromkeys(spec.name for spec in named))
        self._missing: frozenset[str] = frozenset()

    def read(self) -> tuple[GroupReading, ...]:
        """Return all groups that are named or that any rule finds, by name; without those that are being deleted."""
        found = {group.name: group for group in self._read()}
        self._warn_of_missing(frozenset(self._named) - found.keys())
        return tuple(found[name] for name in sorted(found))

    def _read(self) -> Iterator[GroupReading]:
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


def read_groups(aws: Calls, **arguments: Any) -> Iterator[GroupReading]:
    """Yield the groups that ``DescribeAutoScalingGroups`` tells of, without those that are being deleted."""
    for page in aws.pages("autoscaling", "describe_auto_scaling_groups", **arguments):
        for body in page["AutoScalingGroups"]:
            # Only a group that is being deleted has a status.
            if not body.get("Status"):
                yield parse_group(body)
