"""Launch configurations: the older of the two ways to define what a group launches."""

from collections.abc import Iterable
from datetime import timedelta

from nodewright.api import Clock, NodewrightError, PermanentError

from nodewright_aws.calls import Calls
from nodewright_aws.templates.cache import Cache
from nodewright_aws.templates.launch_data import LaunchTemplateData, parse_configuration

#: They can't be changed, only deleted.
_LIFETIME = timedelta(hours=12)
_NAMES_PER_CALL = 50


class LaunchConfigurations:
    """Launch configurations by name."""

    def __init__(self, aws: Calls, clock: Clock) -> None:
        self._aws = aws
        self._cache: Cache[str, LaunchTemplateData] = Cache(clock, _LIFETIME)

    def refresh(self, names: Iterable[str]) -> None:
        """Read those that are unknown. Raises nothing: `get` does."""
        due = self._cache.due(names)
        for start in range(0, len(due), _NAMES_PER_CALL):
            self._read(due[start : start + _NAMES_PER_CALL])

    def get(self, name: str) -> LaunchTemplateData:
        """Return a launch configuration; raises `NodewrightError`."""
        return self._cache.get(name)

    def _read(self, names: list[str]) -> None:
        try:
            answer = self._aws.call(
                "autoscaling",
                "describe_launch_configurations",
                LaunchConfigurationNames=names,
                MaxRecords=_NAMES_PER_CALL,
            )
        except NodewrightError as error:
            for name in names:
                self._cache.fail(name, error)
            return
        found = {
            body["LaunchConfigurationName"]: parse_configuration(body)
            for body in answer.get("LaunchConfigurations", ())
        }
        for name in names:
            if name in found:
                self._cache.keep(name, found[name])
            else:
                self._cache.fail(name, PermanentError(f"there is no launch configuration {name!r}"))
