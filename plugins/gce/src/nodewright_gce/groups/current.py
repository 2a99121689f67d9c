"""A group as it is known now: as Google last described it, with the orders that were given since."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from nodewright_gce.groups.machines import is_counted, provider_id
from nodewright_gce.groups.orders import going
from nodewright_gce.groups.services import GroupServices
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.address import Address
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig


class Current:
    """What is known of one group, which its actions read anew and correct."""

    def __init__(self, group: ManagedGroup, services: GroupServices) -> None:
        self.group = group
        self._services = services

    @property
    def id(self) -> str:
        """The id of the group."""
        return self.group.address.id

    @property
    def address(self) -> Address:
        """Where the group is."""
        return self.group.address

    @property
    def target(self) -> int:
        """How many machines are to run."""
        return self.group.mig.target_size

    def read(self) -> ManagedGroup:
        """Return the group with the size that it has now, and the machines that it had at the last refresh."""
        mig = self._services.compute.mig(self.address)
        return self._services.orders.applied_to(replace(self.group, mig=mig))

    def read_whole(self) -> ManagedGroup:
        """Return the group as it is now."""
        members = tuple(self._services.compute.managed_instances(self.address))
        mig = self._services.compute.mig(self.address)
        return self._services.orders.applied_to(replace(self.group, mig=mig, members=members))

    def has(self, now: ManagedGroup, target: int, *, before: int | None = None) -> None:
        """Note that Google has taken an order for so many machines; *before* is the size that it changed."""
        self._services.orders.resized(self.id, now.mig.target_size if before is None else before, target)
        self._services.touch(self.address)
        self.group = replace(now, mig=_with_target(now.mig, target))

    def loses(self, machines: Sequence[ManagedInstance]) -> None:
        """Note that Google has taken the order to delete *machines*."""
        place, mig = self.address.place, self.group.mig
        # Google counts none that somebody else has deleted meanwhile.
        left = max(0, self.target - counted(machines, mig))
        going_ids = {provider_id(each, place): str(each.id) for each in machines}
        for id_, incarnation in going_ids.items():
            self._services.orders.deleted(self.id, id_, incarnation)
        members = tuple(going(each) if provider_id(each, place) in going_ids else each for each in self.group.members)
        self.has(replace(self.group, members=members), left)


def counted(machines: Iterable[ManagedInstance], mig: Mig) -> int:
    """Return how many of *machines* the target size of *mig* counts."""
    return sum(is_counted(each, mig) for each in machines)


def _with_target(mig: Mig, target: int) -> Mig:
    return msgspec.structs.replace(mig, target_size=target)
