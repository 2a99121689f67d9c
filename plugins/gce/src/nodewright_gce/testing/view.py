"""Views of the groups: as they are, and as a replica that lags behind has them."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Protocol

from nodewright_gce.resources.address import Address
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.group import Group


class View(Protocol):
    """The groups as somebody sees them."""

    @property
    def groups(self) -> Mapping[str, Group]:
        """All groups by id."""
        ...

    def group(self, address: Address) -> Group:
        """The group at *address*; raises `RefusalError`."""
        ...


class Replica:
    """A copy of the fleet's groups that is *seconds* behind; the groups themselves if that is 0."""

    def __init__(self, fleet: Fleet) -> None:
        self.seconds = 0.0
        self._fleet = fleet
        #: Copies, and until when they were current, the oldest first.
        self._past: deque[tuple[datetime, Mapping[str, Group]]] = deque()

    @property
    def groups(self) -> Mapping[str, Group]:
        """All groups as they were; those that did not exist then as they are."""
        return {**self._fleet.groups, **self._past[0][1]} if self._past else self._fleet.groups

    def group(self, address: Address) -> Group:
        """The group as it was; raises `RefusalError`."""
        return self.groups.get(address.id) or self._fleet.group(address)

    def look(self) -> None:
        """Copy the groups; call it before each change and each answer."""
        if not self.seconds:
            self._past.clear()
            return
        now = self._fleet.clock.now()
        self._past.append((now, {id_: _copy(group) for id_, group in self._fleet.groups.items()}))
        while self._past[0][0] <= now - timedelta(seconds=self.seconds):
            self._past.popleft()


def _copy(group: Group) -> Group:
    return replace(
        group,
        settings=dict(group.settings),
        machines={name: replace(machine) for name, machine in group.machines.items()},
        requests={name: replace(request) for name, request in group.requests.items()},
    )
