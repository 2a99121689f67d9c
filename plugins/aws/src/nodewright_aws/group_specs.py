"""Which groups to use: rules that find them by tags, and groups that are named."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nodewright.api import ConfigurationError, GroupSpec, Problem

_HOW = "write asg:tag=key or asg:tag=key=value, with commas between tags that a group must have together"


@dataclass(frozen=True, kw_only=True)
class TagRule:
    """Finds groups that have all of these tags; None matches any value."""

    tags: Mapping[str, str | None]

    @property
    def filters(self) -> list[dict[str, object]]:
        """The rule as filters of ``DescribeAutoScalingGroups``, all of which must match."""
        return [
            {"Name": "tag-key", "Values": [key]} if value is None else {"Name": f"tag:{key}", "Values": [value]}
            for key, value in sorted(self.tags.items())
        ]

    def matches(self, tags: Mapping[str, str]) -> bool:
        """Tell whether the rule finds a group with *tags*."""
        return all(key in tags and value in (None, tags[key]) for key, value in self.tags.items())


def parse_rule(rule: str) -> TagRule:
    """Return a rule as in ``--node-group-auto-discovery``; raises `ConfigurationError`."""
    discoverer, _, spec = rule.partition(":")
    name, _, pairs = spec.partition("=")
    tags: dict[str, str | None] = {}
    for pair in pairs.split(","):
        key, _, value = pair.strip().partition("=")
        # An empty value matches any value, as in Cluster Autoscaler.
        tags[key] = value or None
    if discoverer != "asg" or name != "tag" or "" in tags:
        raise ConfigurationError(
            Problem(message=f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule for AWS: {_HOW}")
        )
    return TagRule(tags=tags)


def parse_group_spec(text: str) -> GroupSpec:
    """Return a group that is written as ``min:max:name``; raises `ValueError`."""
    low, _, rest = text.partition(":")
    high, _, name = rest.partition(":")
    if not (low.isdecimal() and high.isdecimal() and name):
        raise ValueError(f"{text!r} is no group: write min:max:name, such as 1:10:workers")
    if int(low) > int(high):
        raise ValueError(f"{text!r}: the minimum {low} is above the maximum {high}")
    return GroupSpec(name=name, min_size=int(low), max_size=int(high))


def check_any(rules: Iterable[TagRule], named: Iterable[GroupSpec]) -> None:
    """Raise `ConfigurationError` if there are neither *rules* nor *named* groups: no default uses all groups."""
    if not [*rules, *named]:
        raise ConfigurationError(
            Problem(
                path="discover",
                message="no groups are named: set discover of provider aws "
                "(discover: [{tags: {k8s.io/cluster-autoscaler/enabled: null, k8s.io/cluster-autoscaler/NAME: null}}]) "
                "or its groups (groups: [1:10:NAME]), or --node-group-auto-discovery, or --nodes",
            )
        )


def check_limits(named: Iterable[GroupSpec]) -> None:
    """Raise `ConfigurationError` with every group that is *named* more than once with different limits."""
    limits: dict[str, dict[str, None]] = {}
    for spec in named:
        limits.setdefault(spec.name, {})[f"{spec.min_size}:{spec.max_size}"] = None
    problems = [
        Problem(
            path="groups",
            message=f"group {name} is named with {' and '.join(given)}, here or by --nodes: leave one of them",
        )
        for name, given in limits.items()
        if len(given) > 1
    ]
    if problems:
        raise ConfigurationError(*problems)
