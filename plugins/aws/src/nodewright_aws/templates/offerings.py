"""Where instance types are offered: not every zone has every type."""

from collections.abc import Iterable
from datetime import timedelta

from nodewright.api import Clock, NodewrightError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.memo import Memo
from nodewright_aws.troubles import Troubles

_LIFETIME = timedelta(hours=24)
#: As many values as a filter takes.
_TYPES_PER_CALL = 200


class Offerings:
    """Zones by instance type. Where they can't be read, every zone counts as having every type."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._memo: Memo[str, frozenset[str]] = Memo(clock, _LIFETIME)
        self._troubles = Troubles()

    def refresh(self, types: Iterable[str]) -> None:
        """Read the zones of those that are not known. Raises nothing: what can't be read is warned of."""
        due = self._memo.due(types)
        for start in range(0, len(due), _TYPES_PER_CALL):
            self._read(due[start : start + _TYPES_PER_CALL])

    def zones(self, instance_type: str) -> frozenset[str]:
        """Return the zones of the region that offer a type; empty if that is not known."""
        try:
            return self._memo.get(instance_type)
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
                self._memo.fail(instance_type, error, needed=False)
            sentence = f"it can't be read which zones offer which instance types, so that all count: {error}"
            self._troubles.tell({type(error).__name__: sentence})
            return
        self._troubles.tell({})
        for instance_type in types:
            self._memo.keep(instance_type, frozenset(zones[instance_type]))
