"""Offerings: which zones have which instance types."""

from collections.abc import Iterable
from datetime import timedelta

from nodewright.api import Clock, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.cache import Cache
from nodewright_aws.warn_once import WarnOnce

_LIFETIME = timedelta(hours=24)
#: As many values as a filter takes.
_TYPES_PER_CALL = 200


class Offerings:
    """Zones by instance type. If they can't be read, every zone counts as having every type."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[str, frozenset[str]] = Cache(clock, _LIFETIME)
        self._warnings = WarnOnce()

    def refresh(self, types: Iterable[str]) -> None:
        """Read the zones of those that are unknown. Raises nothing, but warns of failures."""
        due = self._cache.due(types)
        for start in range(0, len(due), _TYPES_PER_CALL):
            self._read(due[start : start + _TYPES_PER_CALL])

    def zones(self, instance_type: str) -> frozenset[str]:
        """Return the zones of the region that offer a type; empty if that is unknown."""
        try:
            return self._cache.get(instance_type)
        except NodewrightError:
            return frozenset()

    def _read(self, types: list[str]) -> None:
        zones: dict[str, set[str]] = {instance_type: set() for instance_type in types}
        try:
            for page in self._aws.pages(
                "ec2",
                "describe_instance_type_offerings",
                LocationType="availability-zone",
                Filters=[{"Name": "instance-type", "Values": types}],
            ):
                for body in page.get("InstanceTypeOfferings", ()):
                    zones.setdefault(body["InstanceType"], set()).add(body["Location"])
        except NodewrightError as error:
            for instance_type in types:
                self._cache.fail(instance_type, error, needed=False)
            sentence = f"the zones that offer instance types can't be read, so all zones count: {error}"
            self._warnings.warn({type(error).__name__: sentence})
            return
        self._warnings.warn({})
        for instance_type in types:
            self._cache.keep(instance_type, frozenset(zones[instance_type]))
