"""Shrinkage of a group: machines that are deleted, and machines that have not come and are given up."""

from collections.abc import Sequence

from nodewright.api import Node, SizeLimitError, TemporaryError, UnsupportedError

from nodewright_gce.groups.current import Current, counted
from nodewright_gce.groups.machines import has_not_come, is_queued
from nodewright_gce.groups.removal import machines_of, reference, requests_for
from nodewright_gce.groups.services import GroupServices
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.queues import open_of
from nodewright_gce.resources.managed_instance import ManagedInstance


class Shrinkage:
    """Takes machines away from a group, which keeps at least so many."""

    def __init__(self, current: Current, services: GroupServices) -> None:
        self._current = current
        self._services = services

    def delete(self, nodes: Sequence[Node], *, least: int | None) -> None:
        """Delete the machines of *nodes*, unless fewer than *least* would be left; with None, whatever is left."""
        # All checks come before the first deletion.
        if not machines_of(nodes, self._current.group, self._services.machines):
            return
        self._current.group = self._current.read()
        leaving = machines_of(nodes, self._current.group, self._services.machines)
        if least is not None:
            self._check_minimum(self._current.group, counted(leaving, self._current.group.mig), least)
        self._delete(leaving)

    def give_up(self, count: int, *, least: int) -> None:
        """Delete machines that are only listed, and lower the target by those that are not even that."""
        now = self._current.read_whole()
        to_come = [each for each in now.members if has_not_come(each, now.mig)]
        unmet = len(to_come) + max(0, now.mig.target_size - counted(now.members, now.mig))
        if not 0 < count <= unmet:
            raise SizeLimitError(
                f"group {self._current.id} waits for {unmet} machines, so its target of {now.mig.target_size} can't be "
                f"lowered by {count} without a deletion"
            )
        self._check_minimum(now, count, least)
        unlisted = count - len(to_come)
        if unlisted > 0 and self._services.orders.is_recent(self._current.id):
            # Google would choose among machines that a late answer does not list yet.
            raise TemporaryError(
                f"Google may not list yet what came of the last order of group {self._current.id}: the next loop looks "
                "again how many of its machines are still to come"
            )
        self._current.group = now
        self._delete(to_come[:count])
        if unlisted > 0:
            self._lower(unlisted)

    def _delete(self, machines: Sequence[ManagedInstance]) -> None:
        """Delete *machines* of the group, and note each part of them that Google takes the order for."""
        services = self._services
        for part in requests_for(self._without_queued(machines)):
            operation = services.compute.delete_instances(
                self._current.address, list(map(reference, part)), request_id=services.names.request_id()
            )
            services.operations.follow(self._current.id, [operation])
            self._current.loses(part)

    def _without_queued(self, machines: Sequence[ManagedInstance]) -> Sequence[ManagedInstance]:
        """Cancel the resize requests that some of *machines* wait for, and return the others."""
        queued = [each for each in machines if is_queued(each)]
        services, address = self._services, self._current.address
        requests = open_of(services.compute.resize_requests(address)) if queued else ()
        if not requests:
            return machines
        waiting = sum(each.resize_by for each in requests)
        if waiting > len(queued):
            raise UnsupportedError(
                f"{waiting} machines of group {self._current.id} wait in its queue, and all of a resize request come "
                f"together: {len(queued)} can't be given up alone"
            )
        operations = [
            services.compute.cancel_resize_request(address, each.name, request_id=services.names.request_id())
            for each in requests
        ]
        services.operations.follow(self._current.id, operations)
        self._current.loses(queued)
        return [each for each in machines if not is_queued(each)]

    def _lower(self, count: int) -> None:
        services, target = self._services, self._current.target - count
        operation = services.compute.resize(self._current.address, target, request_id=services.names.request_id())
        services.operations.follow(self._current.id, [operation])
        self._current.has(self._current.group, target)

    def _check_minimum(self, group: ManagedGroup, count: int, least: int) -> None:
        if group.mig.target_size - count < least:
            raise SizeLimitError(
                f"group {self._current.id} can't lose {count} of {group.mig.target_size} machines: {least} is its "
                "minimum"
            )
