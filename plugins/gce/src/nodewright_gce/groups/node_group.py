"""A managed instance group as a node group of the core."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec
from nodewright.api import (
    AccessDeniedError,
    CloudUnavailableError,
    GroupOptions,
    Instance,
    InstanceError,
    Node,
    NodeGroup,
    NodeTemplate,
    NodewrightError,
    PartialIncreaseError,
    Pause,
    PermanentError,
    SizeLimitError,
    TemporaryError,
    ThrottledError,
    UnsupportedError,
)

from nodewright_gce.calls.compute import Compute
from nodewright_gce.causes import CREATING
from nodewright_gce.groups.attempts import Attempts
from nodewright_gce.groups.known_machines import KnownMachines
from nodewright_gce.groups.limits import SizeLimits
from nodewright_gce.groups.listing import Listing, Origin
from nodewright_gce.groups.machines import has_not_come, is_counted, is_queued, name_of, provider_id
from nodewright_gce.groups.names import Names
from nodewright_gce.groups.operations import Operations
from nodewright_gce.groups.orders import RecentOrders, going
from nodewright_gce.groups.removal import machines_of, reference, requests_for
from nodewright_gce.groups.steering import pause_of
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.migs.queues import open_of
from nodewright_gce.resources.address import Address
from nodewright_gce.resources.managed_instance import ManagedInstance
from nodewright_gce.resources.mig import Mig

if TYPE_CHECKING:
    from nodewright_gce.groups.supply import Supply
    from nodewright_gce.migs.history import History
    from nodewright_gce.migs.queues import Queues
    from nodewright_gce.templates.templates import Templates

#: Google makes no more machines by name in one request. Several requests could be granted in part.
_MOST_BY_NAME = 1000
#: Google's code, in the message of an order whose names it has already.
_NAME_TAKEN = "ALREADY_EXISTS"


@dataclass(frozen=True, kw_only=True)
class GroupServices:
    """What the groups of a provider share."""

    compute: Compute
    templates: "Templates"
    history: "History"
    queues: "Queues"
    supply: "Supply"
    machines: KnownMachines
    listing: Listing
    orders: RecentOrders
    operations: Operations
    attempts: Attempts
    names: Names
    #: Has the machines of a group listed at the next refresh.
    touch: Callable[[Address], None]


class GceNodeGroup(NodeGroup):
    """Facts from one refresh. Actions read the size again before they change it, and correct the facts afterwards."""

    def __init__(self, group: ManagedGroup, limits: SizeLimits, services: GroupServices) -> None:
        self._group = group
        self._services = services
        self.limits = limits

    @property
    def id(self) -> str:
        """The URL of the group, as in Cluster Autoscaler."""
        return self._group.address.id

    @property
    def managed_group(self) -> ManagedGroup:
        """The group as Google last described it, with the changes made since."""
        return self._group

    @property
    def min_size(self) -> int:
        """The smallest number of machines."""
        return self.limits.min_size

    @property
    def max_size(self) -> int:
        """The largest number of machines."""
        if self.limits.max_size is None:
            raise PermanentError(
                f"group {self.id} has no maximum: write one in its rule, or as nodewright-max-size into the metadata "
                "of its template"
            )
        return self.limits.max_size

    @property
    def target_size(self) -> int:
        """How many machines are to run, as of the last refresh or action; those that stand by do not count.

        Raises why the group could not be read, if that is so: the core leaves it alone then.
        """
        if self._group.trouble is not None:
            raise self._group.trouble
        return self._group.mig.target_size

    def instances(self) -> Sequence[Instance]:
        """All machines that Google lists, those that do not exist yet among them."""
        return self._services.listing.instances(self._group, self._origin)

    def template(self) -> NodeTemplate | None:
        """What a new node looks like."""
        return self._services.templates.template(self._group)

    def pools(self) -> Sequence[str]:
        """The capacity pools of its template: types and zones, on demand or spot, or a reservation."""
        return tuple(map(str, self._services.templates.pools(self._group)))

    def quotas(self) -> Mapping[str, int]:
        """What each machine takes of the quotas of its region."""
        return self._services.templates.quotas(self._group)

    def available(self) -> int | None:
        """For how many machines quotas and reservations have room, as of a minute ago."""
        return self._services.supply.room(self._group)

    def errors(self) -> Sequence[InstanceError]:
        """What the group's history, its resize requests, and operations say that failed late."""
        late = self._services.operations.failure(self.id)
        told = [
            *([late] if late else []),
            *self._services.queues.causes(self.id),
            *self._services.history.causes(self.id),
        ]
        return tuple({(each.code, each.pool): each for each in told}.values())

    def pause(self) -> Pause | None:
        """Whether Google's own autoscaler steers the group, or its machines are not interchangeable."""
        return pause_of(self._group.mig)

    @property
    def atomic(self) -> bool:
        """Whether the group grows in bulk, or has a queue."""
        return _is_bulk(self._group.mig) or self.has_queue

    @property
    def has_queue(self) -> bool:
        """Whether the group takes resize requests, which may wait for machines."""
        repairs = self._group.mig.instance_lifecycle_policy.default_action_on_failure != "DO_NOTHING"
        with suppress(NodewrightError):
            return not repairs and self._services.templates.queued(self._group)
        return False

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """The defaults, overridden by the metadata of its template."""
        return self._services.templates.options(self._group, defaults)

    def increase(self, count: int) -> None:
        """Order machines by name, which adds to whatever others do.

        Where Google makes none by name, the group is resized. That sets a number rather than a difference: raises
        `TemporaryError` if another client changed it since it was read, as that change would be lost.
        """
        now = self._read_for_growth(count)
        if count > _MOST_BY_NAME or not _grows_by_name(now.mig):
            self._resize_up(now, count)
        else:
            self._create(now, count)

    def increase_atomically(self, count: int) -> None:
        """Resize a group that grows in bulk, else put a resize request into the queue.

        Machines that wait in a queue are Creating, and have not failed.
        """
        if not self.atomic:
            raise UnsupportedError(
                f"group {self.id} can't grow all or nothing: set the mode of its targetSizePolicy to BULK"
            )
        now = self._read_for_growth(count)
        if _is_bulk(now.mig):
            self._resize_up(now, count)
            return
        services, names = self._services, self._services.names
        operation = services.compute.insert_resize_request(
            now.address, names.resize_request(), count, request_id=names.request_id()
        )
        services.operations.follow(self.id, [operation])
        self._now_has(now, now.mig.target_size + count)

    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines by name, which lowers the target by as many."""
        self._remove(nodes, least=self.min_size)

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete machines even below `min_size`."""
        self._remove(nodes, least=None)

    def decrease_target(self, count: int) -> None:
        """Delete machines that are only listed, and lower the target by those that are not even that."""
        now = self._read_whole()
        to_come = [each for each in now.members if has_not_come(each, now.mig)]
        unmet = len(to_come) + max(0, now.mig.target_size - _counted(now.members, now.mig))
        if not 0 < count <= unmet:
            raise SizeLimitError(
                f"group {self.id} waits for {unmet} machines, so its target of {now.mig.target_size} can't be lowered "
                f"by {count} without a deletion"
            )
        self._check_minimum(now, count, self.min_size)
        if count > len(to_come) and self._services.orders.is_recent(self.id):
            # Google would choose among machines that a late answer does not list yet.
            raise TemporaryError(
                f"Google may not list yet what came of the last order of group {self.id}: the next loop looks again "
                "how many of its machines are still to come"
            )
        self._group = now
        self._delete(to_come[:count])
        rest = count - len(to_come)
        if rest > 0:
            self._resize(self._group, self._group.mig.target_size - rest)

    # Growing

    def _read_for_growth(self, count: int) -> ManagedGroup:
        """Return the group as it is now, with room for *count* more machines."""
        if count < 1:
            raise SizeLimitError(f"group {self.id} can't grow by {count} machines")
        self._check_maximum(self._group, count)
        now = self._read()
        self._check_maximum(now, count)
        return now

    def _create(self, now: ManagedGroup, count: int) -> None:
        services = self._services
        taken = {name_of(each) for each in now.members}
        attempt = services.attempts.next(self.id, now.mig, count, taken)
        try:
            operation = services.compute.create_instances(now.address, attempt.names, request_id=attempt.request_id)
            services.operations.follow(self.id, [operation])
        except CloudUnavailableError:
            # Google may have taken it all the same.
            raise
        except (AccessDeniedError, ThrottledError):
            services.attempts.over(self.id)
            raise
        except NodewrightError as error:
            services.attempts.over(self.id)
            # Machines that have these names already are of an earlier order.
            if _NAME_TAKEN not in str(error):
                self._take_back(attempt.names, error)
            raise
        services.attempts.over(self.id)
        # The size that was read may include an attempt that is repeated.
        self._now_has(now, max(now.mig.target_size, attempt.before + count), before=attempt.before)

    def _take_back(self, names: Sequence[str], error: NodewrightError) -> None:
        """Delete what came of an order that failed with *error*; raises `PartialIncreaseError` if that fails."""
        begun: Sequence[ManagedInstance] = ()
        services, address, ours = self._services, self._group.address, set(names)
        try:
            listed = services.compute.managed_instances(address)
            begun = [each for each in listed if name_of(each) in ours and each.current_action in CREATING]
            if begun:
                operation = services.compute.delete_instances(
                    address, list(map(reference, begun)), request_id=services.names.request_id()
                )
                services.operations.follow(self.id, [operation])
        except NodewrightError as trouble:
            if begun:
                raise PartialIncreaseError(len(begun), error) from trouble

    def _resize_up(self, now: ManagedGroup, count: int) -> None:
        known, size = self._group.mig.target_size, now.mig.target_size
        if size != known:
            raise TemporaryError(
                f"group {self.id} was resized by another client, from {known} to {size}: the next loop decides anew "
                "how much more it needs"
            )
        if self._services.orders.is_undone_by(now, size + count):
            raise TemporaryError(
                f"Google may not show the last order of group {self.id} yet: the next loop decides anew how much more "
                "it needs"
            )
        self._resize(now, size + count)

    def _resize(self, now: ManagedGroup, size: int) -> None:
        services = self._services
        operation = services.compute.resize(now.address, size, request_id=services.names.request_id())
        services.operations.follow(self.id, [operation])
        self._now_has(now, size)

    # Shrinking

    def _remove(self, nodes: Sequence[Node], *, least: int | None) -> None:
        # All checks come before the first deletion.
        if not machines_of(nodes, self._group, self._services.machines):
            return
        self._group = self._read()
        leaving = machines_of(nodes, self._group, self._services.machines)
        if least is not None:
            self._check_minimum(self._group, _counted(leaving, self._group.mig), least)
        self._delete(leaving)

    def _delete(self, machines: Sequence[ManagedInstance]) -> None:
        """Delete *machines* of the group, and note each part of them that Google takes the order for."""
        services = self._services
        waiting = self._unqueue([each for each in machines if is_queued(each)])
        for part in requests_for([each for each in machines if each not in waiting]):
            operation = services.compute.delete_instances(
                self._group.address, list(map(reference, part)), request_id=services.names.request_id()
            )
            services.operations.follow(self.id, [operation])
            self._now_without(part)

    def _unqueue(self, machines: Sequence[ManagedInstance]) -> Sequence[ManagedInstance]:
        """Cancel the resize requests that *machines* wait for; return those that were given up by that."""
        if not machines:
            return ()
        services, address = self._services, self._group.address
        requests = open_of(services.compute.resize_requests(address))
        waiting = sum(each.resize_by for each in requests)
        if not requests:
            return ()
        if waiting > len(machines):
            raise UnsupportedError(
                f"{waiting} machines of group {self.id} wait in its queue, and all of a resize request come together: "
                f"{len(machines)} can't be given up alone"
            )
        operations = [
            services.compute.cancel_resize_request(address, each.name, request_id=services.names.request_id())
            for each in requests
        ]
        services.operations.follow(self.id, operations)
        self._now_without(machines)
        return machines

    # What is known

    @property
    def _origin(self) -> Origin:
        templates, group = self._services.templates, self._group
        # A group of which nothing is known has machines all the same.
        with suppress(NodewrightError):
            return Origin(
                machine_types=tuple(templates.machine_types(group)),
                spot=templates.spot(group),
                reservation=next((each.reservation for each in templates.pools(group)), ""),
                queued=self._services.queues.is_waiting(self.id),
            )
        return Origin()

    def _read(self) -> ManagedGroup:
        """Return the group with the size that it has now, and the machines that it had at the last refresh."""
        services, group = self._services, self._group
        mig = services.compute.mig(group.address)
        return services.orders.applied_to(replace(group, mig=mig))

    def _read_whole(self) -> ManagedGroup:
        """Return the group as it is now."""
        now = self._read()
        members = tuple(self._services.compute.managed_instances(now.address))
        return self._services.orders.applied_to(replace(now, members=members))

    def _now_has(self, now: ManagedGroup, target: int, *, before: int | None = None) -> None:
        """Note that Google has taken an order for so many machines; *before* is the size that it changed."""
        self._services.orders.resized(self.id, now.mig.target_size if before is None else before, target)
        self._services.touch(self._group.address)
        self._group = replace(now, mig=_with_target(now.mig, target))

    def _now_without(self, machines: Sequence[ManagedInstance]) -> None:
        """Note that Google has taken the order to delete *machines*."""
        place, mig, size = self._group.address.place, self._group.mig, self._group.mig.target_size
        left = size - _counted(machines, mig)
        ids = {provider_id(each, place): str(each.id) for each in machines}
        for id_, incarnation in ids.items():
            self._services.orders.deleted(self.id, id_, incarnation)
        self._services.orders.resized(self.id, size, left)
        self._services.touch(self._group.address)
        members = tuple(going(each) if provider_id(each, place) in ids else each for each in self._group.members)
        self._group = replace(self._group, mig=_with_target(mig, left), members=members)

    def _check_maximum(self, group: ManagedGroup, count: int) -> None:
        target = group.mig.target_size + count
        if target > self.max_size:
            raise SizeLimitError(f"group {self.id} can't grow to {target}: its maximum is {self.max_size}")

    def _check_minimum(self, group: ManagedGroup, count: int, least: int) -> None:
        if group.mig.target_size - count < least:
            raise SizeLimitError(
                f"group {self.id} can't lose {count} of {group.mig.target_size} machines: {least} is its minimum"
            )


def _counted(machines: Iterable[ManagedInstance], mig: Mig) -> int:
    return sum(is_counted(each, mig) for each in machines)


def _is_bulk(mig: Mig) -> bool:
    return mig.target_size_policy.mode == "BULK"


def _grows_by_name(mig: Mig) -> bool:
    """Whether Google makes machines of a MIG by name.

    Not where it chooses their types, takes them from a pool that stands by, numbers them, or makes them in bulk.
    """
    chooses = bool(mig.instance_flexibility_policy.instance_selections) or bool(mig.stateful_policy)
    stands_by = mig.standby_policy.mode == "SCALE_OUT_POOL"
    return not (chooses or stands_by or _is_bulk(mig) or "#" in mig.base_instance_name)


def _with_target(mig: Mig, target: int) -> Mig:
    return msgspec.structs.replace(mig, target_size=target)
