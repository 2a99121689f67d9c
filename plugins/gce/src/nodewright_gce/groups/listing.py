"""The machines of groups as instances of the contract, with the errors that keep them from coming."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from nodewright.api import Instance

from nodewright_gce.causes import cause_of_machine
from nodewright_gce.groups.machines import as_instance, is_queued
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import Pool
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import LifecyclePolicy


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What new machines of a group are made of, as far as it is known."""

    machine_types: tuple[str, ...] = ()
    spot: bool = False
    reservation: str = ""
    #: Whether its machines wait in a queue: until they come, nothing that happens to them is a failure.
    queued: bool = False


@dataclass(frozen=True, kw_only=True)
class _Listed:
    """The instances of a group, and all that they were made of."""

    members: tuple[ManagedInstance, ...]
    lifecycle: LifecyclePolicy
    template: str
    origin: Origin
    instances: tuple[Instance, ...]

    def shows(self, group: ManagedGroup, origin: Origin) -> bool:
        """Whether nothing has changed."""
        mig = group.mig
        return self.members is group.members and (self.lifecycle, self.template, self.origin) == (
            mig.instance_lifecycle_policy,
            mig.template,
            origin,
        )


class Listing:
    """Makes instances of the machines of groups; those of a group without a change are not made again."""

    def __init__(self) -> None:
        self._known: dict[str, _Listed] = {}

    def instances(self, group: ManagedGroup, origin: Origin) -> Sequence[Instance]:
        """Return all machines of *group*."""
        known = self._known.get(group.address.id)
        if known is not None and known.shows(group, origin):
            return known.instances
        listed = _Listed(
            members=group.members,
            lifecycle=group.mig.instance_lifecycle_policy,
            template=group.mig.template,
            origin=origin,
            instances=tuple(_instance(each, group, origin) for each in group.members),
        )
        self._known[group.address.id] = listed
        return listed.instances

    def keep(self, groups: Container[str]) -> None:
        """Forget all but these *groups*, by id."""
        self._known = {group: each for group, each in self._known.items() if group in groups}


def _instance(machine: ManagedInstance, group: ManagedGroup, origin: Origin) -> Instance:
    shown = as_instance(machine, group.mig, group.address.place, origin.machine_types)
    if origin.queued and is_queued(machine):
        return shown
    pool = Pool(zone=shown.zone, machine_type=shown.instance_type, spot=origin.spot, reservation=origin.reservation)
    error = cause_of_machine(machine, pool)
    return replace(shown, error=error) if error else shown
