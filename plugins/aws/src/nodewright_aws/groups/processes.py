"""What keeps an Auto Scaling group from doing as it is told, for people to know."""

import logging
from collections.abc import Iterable

from nodewright_aws.groups.reading import GroupReading

_log = logging.getLogger(__name__)


def can_grow(group: GroupReading) -> bool:
    """Tell whether AWS would launch machines for the group at all."""
    return not group.suspended_processes & {"Launch"}


def notes(group: GroupReading) -> tuple[str, ...]:
    """Return what people should know about the group's set-up, in sentences."""
    return ()


class Notices:
    """Logs the notes of groups, each once for as long as it holds."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[str, ...]] = {}

    def tell(self, groups: Iterable[GroupReading]) -> None:
        """Log what is new about *groups*, and forget those that are gone."""
        now = {group.name: notes(group) for group in groups}
        for name, said in now.items():
            for note in said:
                if note not in self._told.get(name, ()):
                    _log.warning("group %s: %s", name, note)
        self._told = now
