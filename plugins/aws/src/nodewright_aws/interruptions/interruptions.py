"""Machines that AWS is about to take away."""

from collections.abc import Mapping, Sequence

from nodewright.api import Clock

from nodewright_aws.calls import Calls
from nodewright_aws.groups.reading import GroupReading
from nodewright_aws.interruptions.settings import InterruptionSettings


class Interruptions:
    """What the queue told. For the provider's thread."""

    def __init__(self, aws: Calls, settings: InterruptionSettings, clock: Clock) -> None:
        self._aws = aws
        self._settings = settings
        self._clock = clock
        self._doomed: dict[str, str] = {}

    @property
    def doomed(self) -> Mapping[str, str]:
        """Why a machine will be gone soon, by its id."""
        return self._doomed

    def refresh(self, groups: Sequence[GroupReading]) -> None:
        """Read the queue, if there is one, and forget machines that are gone from their *groups*."""
