"""Supply: how many more machines Google could deliver to groups, by quotas and reservations."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from nodewright.api import NodewrightError

from nodewright_gce.groups.machines import to_come
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.quotas import Quotas
from nodewright_gce.migs.reservations import Reservations
from nodewright_gce.resources.address import Place

if TYPE_CHECKING:
    from nodewright_gce.templates.templates import Templates


class Supply:
    """Answers from what was read last of quotas and reservations; what is not known limits nothing."""

    def __init__(self, quotas: Quotas, reservations: Reservations, templates: "Templates") -> None:
        self._quotas = quotas
        self._reservations = reservations
        self._templates = templates

    def refresh_quotas(self, groups: Iterable[ManagedGroup]) -> None:
        """Read the quotas of the regions of *groups*."""
        self._quotas.refresh({each.address.place for each in groups})

    def refresh_reservations(self, groups: Iterable[ManagedGroup]) -> None:
        """Read the reservations that *groups* are bound to."""
        zones: set[Place] = set()
        for group in groups:
            # A group of which nothing is known is bound to none.
            with suppress(NodewrightError):
                bound = (each for each in self._templates.pools(group) if each.reservation)
                zones.update(Place(project=group.address.place.project, name=each.zone) for each in bound)
        self._reservations.refresh(zones)

    def room(self, group: ManagedGroup) -> int | None:
        """Return how many more machines of *group* there could be; None if that is not known."""
        place = group.address.place
        rooms = (
            self._quotas.room(place, self._templates.quotas(group)),
            self._reservations.room(place.project, self._templates.pools(group)),
        )
        room = min((room for room in rooms if room is not None), default=None)
        # What was ordered takes its part when it exists.
        return None if room is None else max(0, room - to_come(group.members, group.mig))
