"""Which groups to use: rules that find them, and groups that are named, as users write them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from nodewright.api import ConfigurationError, GroupSpec, Problem

from nodewright_gce.resources.address import Address

_HOW = "write mig:namePrefix=PREFIX,min=MIN,max=MAX, with no other keys"
_URL = "https://www.googleapis.com/compute/v1/projects/PROJECT/zones/ZONE/instanceGroups/NAME"
_KEYS = frozenset({"namePrefix", "min", "max"})
#: ``europe-west1``, and ``-b`` or ``-ai1a`` behind it for a zone.
_REGION = re.compile(r"[a-z]+(-[a-z]+)*\d+")
_LETTER = re.compile(r"[a-z]|ai\d[a-z]")


@dataclass(frozen=True, kw_only=True)
class DiscoveryRule:
    """Finds the groups that all of this is true of."""

    #: Their name begins with it, and has something behind it. A regular expression, as in Cluster Autoscaler.
    name_prefix: str = ""
    #: A shell pattern for the name of their template.
    template: str = ""
    #: Their template has these labels; None matches any value.
    labels: Mapping[str, str | None] = field(default_factory=dict)
    #: Limits of each; None if only the metadata of the template may tell.
    min_size: int | None = None
    max_size: int | None = None
    #: Where to look; empty for the project and the places of the provider.
    project: str = ""
    zones: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def matches(self, name: str, template: str) -> bool:
        """Tell whether a group of that *name* may be meant, whose template has that name; labels count besides."""
        if self.name_prefix and re.match(f"(?:{self.name_prefix}).+$", name) is None:
            return False
        return not self.template or fnmatchcase(template, self.template)

    def has_labels(self, labels: Mapping[str, str]) -> bool:
        """Tell whether *labels* of a template are among those that the rule demands."""
        return all(key in labels and value in (None, labels[key]) for key, value in self.labels.items())


@dataclass(frozen=True, kw_only=True)
class NamedGroup:
    """A group that the user named, with its limits."""

    address: Address
    min_size: int
    max_size: int


def parse_rule(rule: str) -> DiscoveryRule:
    """Return a rule as in ``--node-group-auto-discovery``; raises `ConfigurationError`."""
    discoverer, colon, spec = rule.partition(":")
    values: dict[str, str] = {}
    for pair in spec.split(","):
        key, _, value = pair.partition("=")
        values[key] = value
    if discoverer != "mig" or not colon or ":" in spec:
        raise _no_rule(rule, _HOW)
    if unknown := sorted(values.keys() - _KEYS):
        raise _no_rule(rule, f"{', '.join(map(repr, unknown))} is no key of it: {_HOW}")
    if not values.get("namePrefix"):
        raise _no_rule(rule, f"namePrefix must not be empty: {_HOW}")
    sizes = {key: values.get(key, "0") for key in ("min", "max")}
    if not all(size.isdecimal() for size in sizes.values()):
        raise _no_rule(rule, f"min and max are numbers: {_HOW}")
    low, high = int(sizes["min"]), int(sizes["max"])
    try:
        check_limits(low, high)
        check_prefix(values["namePrefix"])
    except ValueError as error:
        raise _no_rule(rule, f"{error}: {_HOW}") from None
    return DiscoveryRule(name_prefix=values["namePrefix"], min_size=low, max_size=high)


def named_group(spec: GroupSpec) -> NamedGroup:
    """Return the group that *spec* of ``--nodes`` names; raises `ConfigurationError`."""
    try:
        return NamedGroup(address=read_address(spec.name), min_size=spec.min_size, max_size=spec.max_size)
    except ValueError as error:
        raise ConfigurationError(Problem(path="nodeGroups", message=f"{error}")) from None


def parse_group(text: str) -> NamedGroup:
    """Return a group that is written as ``min:max:URL``; raises `ValueError`."""
    low, _, rest = text.partition(":")
    high, _, url = rest.partition(":")
    if not (low.isdecimal() and high.isdecimal() and url):
        raise ValueError(f"{text!r} is no group: write min:max:URL, with the URL {_URL}")
    if int(low) > int(high):
        raise ValueError(f"{text!r}: the minimum {low} is above the maximum {high}")
    return NamedGroup(address=read_address(url), min_size=int(low), max_size=int(high))


def read_address(url: str) -> Address:
    """Return the address in the URL of a group, at any host; raises `ValueError` with what to write."""
    if "/instanceGroupManagers/" in url:
        right = url.replace("/instanceGroupManagers/", "/instanceGroups/")
        raise ValueError(f"{url!r} names the manager of the group: write {right}")
    try:
        return Address.parse(url)
    except ValueError:
        raise ValueError(
            f"{url!r} is no URL of an instance group: write {_URL}, or regions/REGION in place of zones/ZONE"
        ) from None


def check_limits(low: int | None, high: int | None) -> None:
    """Raise `ValueError` if no group can have these limits."""
    if high is not None and high < 1:
        raise ValueError("max must be at least 1")
    if low is not None and high is not None and low > high:
        raise ValueError(f"min {low} is above max {high}")


def check_prefix(prefix: str) -> None:
    """Raise `ValueError` if *prefix* can't begin a name."""
    try:
        re.compile(prefix)
    except re.error as error:
        raise ValueError(f"namePrefix {prefix!r} is no prefix of a name, and no regular expression ({error})") from None


def is_zone(name: str) -> bool:
    """Tell whether *name* looks like a zone's, such as ``europe-west1-b``."""
    region, _, letter = name.rpartition("-")
    return is_region(region) and _LETTER.fullmatch(letter) is not None


def is_region(name: str) -> bool:
    """Tell whether *name* looks like a region's, such as ``europe-west1``."""
    return _REGION.fullmatch(name) is not None


def check_any(rules: Iterable[DiscoveryRule], named: Iterable[NamedGroup]) -> None:
    """Raise `ConfigurationError` if there are neither *rules* nor *named* groups: no default uses all groups."""
    if not [*rules, *named]:
        raise ConfigurationError(
            Problem(
                path="discover",
                message="no groups are named: set discover of provider gce "
                "(discover: [{namePrefix: NAME, min: 0, max: 10}]) or its groups "
                f"(groups: ['1:10:{_URL}']), or --node-group-auto-discovery, or --nodes",
            )
        )


def check_once(named: Iterable[NamedGroup]) -> None:
    """Raise `ConfigurationError` with every group that is *named* more than once with different limits."""
    limits: dict[Address, dict[str, None]] = {}
    for group in named:
        limits.setdefault(group.address, {})[f"{group.min_size}:{group.max_size}"] = None
    problems = [
        Problem(
            path="groups",
            message=f"group {address.id} is named with {' and '.join(given)}, here or by --nodes: leave one of them",
        )
        for address, given in limits.items()
        if len(given) > 1
    ]
    if problems:
        raise ConfigurationError(*problems)


def _no_rule(rule: str, why: str) -> ConfigurationError:
    return ConfigurationError(
        Problem(message=f"{rule!r}, of discovery or --node-group-auto-discovery, is no rule for Google Cloud: {why}")
    )
