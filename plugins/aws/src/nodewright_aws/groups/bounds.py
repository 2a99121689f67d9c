"""How small and how large groups may be."""

import logging
from collections.abc import Iterable

from nodewright.api import GroupSpec

from nodewright_aws.groups.reading import GroupReading

_log = logging.getLogger(__name__)


class Bounds:
    """Smallest and largest sizes: those that AWS has for a group, and within them those it was *named* with."""

    def __init__(self, named: Iterable[GroupSpec]) -> None:
        self._named = {spec.name: spec for spec in named}
        self._told: dict[str, tuple[int, int]] = {}

    def of(self, group: GroupReading) -> tuple[int, int]:
        """Return minimum and maximum; warn, once, where AWS would refuse what the group was named with."""
        spec = self._named.get(group.name)
        if spec is None:
            return group.min_size, group.max_size
        low, high = (min(max(size, group.min_size), group.max_size) for size in (spec.min_size, spec.max_size))
        if (low, high) == (spec.min_size, spec.max_size):
            self._told.pop(group.name, None)
        elif self._told.get(group.name) != (low, high):
            self._told[group.name] = (low, high)
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
