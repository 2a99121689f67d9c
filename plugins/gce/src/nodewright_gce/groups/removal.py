"""Removal of machines: which of them belong to the group and still exist, and how Google is asked to delete them."""

from collections.abc import Iterator, Sequence

from nodewright.api import ForeignNodeError, InstanceState, Node

from nodewright_gce.groups.known_machines import KnownMachines
from nodewright_gce.groups.machines import is_queued, name_of, provider_id, state_of
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.resources.managed_instance import ManagedInstance

#: Google takes no more machines in one request.
_MOST = 1000


def machines_of(nodes: Sequence[Node], group: ManagedGroup, known: KnownMachines) -> tuple[ManagedInstance, ...]:
    """Return the machines of *nodes* that exist and are not on their way out already, each once.

    Raises `ForeignNodeError` if one does not belong to *group*.
    """
    place = group.address.place
    here = {provider_id(each, place): each for each in group.members}
    found: dict[str, ManagedInstance] = {}
    for node in nodes:
        id_ = node.spec.provider_id
        machine = here.get(id_)
        if machine is not None:
            if state_of(machine, group.mig) is not InstanceState.DELETING:
                found[id_] = machine
        elif known.former_group(id_) != group.address.id:
            raise ForeignNodeError(
                f"node {node.name} ({id_ or 'without a provider ID'}) is not a machine of group "
                f"{group.address.id}: nothing is deleted"
            )
    return tuple(found.values())


def requests_for(machines: Sequence[ManagedInstance]) -> Iterator[tuple[ManagedInstance, ...]]:
    """Split *machines* into what one request may name: URLs and names, which queued machines go by, can't be mixed."""
    for queued in (False, True):
        alike = [each for each in machines if is_queued(each) is queued]
        for begin in range(0, len(alike), _MOST):
            yield tuple(alike[begin : begin + _MOST])


def reference(machine: ManagedInstance) -> str:
    """Return what a request names *machine* by."""
    return machine.instance or name_of(machine)
