"""Groups as they were some time ago, which is what answers of AWS may tell of."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from nodewright_aws.testing.fleet import Fleet
from nodewright_aws.testing.group import Group


class Replica:
    """A copy of the fleet that is *seconds* behind it; the fleet itself if that is 0."""

    def __init__(self, fleet: Fleet) -> None:
        self.seconds = 0.0
        self._fleet = fleet
        #: Until when the groups were like that, the oldest first.
        self._past: deque[tuple[datetime, Mapping[str, Group]]] = deque()

    def look(self) -> None:
        """See what the groups are like; to be called before anything is done to them or told of them."""
        if not self.seconds:
            self._past.clear()
            return
        now = self._fleet.clock.now()
        self._past.append((now, {name: _copy(group) for name, group in self._fleet.groups.items()}))
        while self._past[0][0] <= now - timedelta(seconds=self.seconds):
            self._past.popleft()

    def group(self, name: str) -> Group:
        """The group as it was; as it is, if it is newer than that."""
        known = self._past[0][1] if self._past else {}
        return known.get(name) or self._fleet.group(name)


def _copy(group: Group) -> Group:
    return replace(group, machines={number: replace(machine) for number, machine in group.machines.items()})
