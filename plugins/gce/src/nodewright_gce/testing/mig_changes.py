"""``instanceGroupManagers``, zonal and regional: what the double does for those who change."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodewright_gce.resources.address import Address, Place
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.group import Group, Machine, ResizeRequest
from nodewright_gce.testing.messages import Call, RefusalError, invalid
from nodewright_gce.testing.mig_reads import Handler, address_of, request_of
from nodewright_gce.testing.operations import ChangeError, Operations
from nodewright_gce.testing.urls import path_of

#: Most machines that one call creates or deletes.
_MOST = 1000


class MigChanges:
    """Makes changes to the groups of *fleet*. *zones* are those of a region."""

    def __init__(self, fleet: Fleet, operations: Operations, zones: Callable[[Place], Sequence[str]]) -> None:
        self._fleet = fleet
        self._operations = operations
        self._zones = zones
        groups = self._handlers(
            {
                "create_instances": self._create,
                "delete_instances": self._delete,
                "abandon_instances": self._abandon,
                "recreate_instances": self._recreate,
                "stop_instances": lambda call: self._rest(call, "STOPPED"),
                "suspend_instances": lambda call: self._rest(call, "SUSPENDED"),
                "start_instances": self._wake,
                "resume_instances": self._wake,
                "resize": self._resize,
                "resize_advanced": self._resize_advanced,
                "insert": self._insert,
                "patch": self._patch,
                "delete": self._remove,
            }
        )
        requests = self._handlers({"insert": self._insert_request, "cancel": self._cancel_request})
        self.handlers: Mapping[str, Mapping[str, Handler]] = {
            "instance_group_managers": groups,
            "region_instance_group_managers": groups,
            "instance_group_manager_resize_requests": requests,
            "region_instance_group_manager_resize_requests": requests,
        }

    def _handlers(self, changes: Mapping[str, Callable[[Call], None]]) -> Mapping[str, Handler]:
        return {verb: self._handler(change) for verb, change in changes.items()}

    def _handler(self, change: Callable[[Call], None]) -> Handler:
        return lambda call: self._operations.begin(call, lambda: change(call))

    def _group(self, call: Call) -> Group:
        return self._fleet.group(address_of(call))

    def _create(self, call: Call) -> None:
        group = self._group(call)
        instances = call.arguments.get("instances", [])
        _check_count(instances)
        self._fleet.create(group, [str(each["name"]) for each in instances])

    def _delete(self, call: Call) -> None:
        group = self._group(call)
        machines = self._members(group, call)
        for machine in machines:
            request = group.requests.get(machine.request)
            if request is not None and request.open:
                raise ChangeError(
                    "INVALID_USAGE", f"Instance {machine.name} belongs to resize request {request.name}: cancel that."
                )
        self._fleet.delete(group, machines)

    def _abandon(self, call: Call) -> None:
        group = self._group(call)
        self._fleet.delete(group, self._members(group, call), "ABANDONING")

    def _recreate(self, call: Call) -> None:
        group = self._group(call)
        for machine in self._members(group, call):
            self._fleet.recreate(group, machine)

    def _rest(self, call: Call, status: str) -> None:
        group = self._group(call)
        self._fleet.rest(group, self._members(group, call), status)

    def _wake(self, call: Call) -> None:
        group = self._group(call)
        self._fleet.wake(group, self._members(group, call))

    def _resize(self, call: Call) -> None:
        size = int(call.arguments.get("size", -1))
        if size < 0:
            raise invalid(f"Invalid value for field 'size': '{size}'. Must be greater than or equal to 0.")
        self._fleet.resize(self._group(call), size)

    def _resize_advanced(self, call: Call) -> None:
        retries = not call.arguments.get("noCreationRetries", False)
        self._fleet.resize(self._group(call), int(call.arguments["targetSize"]), retries=retries)

    def _insert(self, call: Call) -> None:
        settings = {key: value for key, value in call.arguments.items() if key != "requestId"}
        name = str(settings.pop("name"))
        address = Address(place=address_of(call).place, name=name)
        if address.id in self._fleet.groups:
            raise RefusalError(409, "alreadyExists", f"The resource '{address.path}' already exists")
        base, target = str(settings.pop("baseInstanceName", name)), int(settings.pop("targetSize"))
        zones = tuple(self._zones(address.place))
        self._fleet.add(Group(address=address, base=base, target=target, zones=zones, settings=settings))

    def _patch(self, call: Call) -> None:
        group = self._group(call)
        settings = {key: value for key, value in call.arguments.items() if key != "requestId"}
        if str(settings.pop("fingerprint", group.fingerprint)) != str(group.fingerprint):
            raise RefusalError(412, "conditionNotMet", "Invalid fingerprint.")
        group.fingerprint += 1
        target = int(settings.pop("targetSize", group.target))
        group.stopped = int(settings.pop("targetStoppedSize", group.stopped))
        group.suspended = int(settings.pop("targetSuspendedSize", group.suspended))
        group.settings |= settings
        self._fleet.resize(group, target)

    def _remove(self, call: Call) -> None:
        self._fleet.remove(self._group(call))

    def _insert_request(self, call: Call) -> None:
        arguments: Mapping[str, Any] = call.arguments
        duration = arguments.get("requestedRunDuration")
        request = ResizeRequest(
            name=str(arguments["name"]),
            count=int(arguments["resizeBy"]),
            made_at=self._fleet.clock.now(),
            seconds=float(duration["seconds"]) if duration else None,
        )
        self._fleet.insert(self._group(call), request)

    def _cancel_request(self, call: Call) -> None:
        group = self._group(call)
        self._fleet.cancel(group, request_of(group, call))

    def _members(self, group: Group, call: Call) -> Sequence[Machine]:
        """The machines that a call names. Others are an error, unless the call asks to skip them."""
        asked = call.arguments.get("instances", [])
        _check_count(asked)
        if len({"/" in each for each in asked}) > 1:
            raise invalid("Invalid value for field 'instances': URLs and names can't be mixed.")
        members = {machine.name if machine.queued else machine.path: machine for machine in group.machines.values()}
        found = [members.get(path_of(each)) for each in asked]
        if None in found and not call.arguments.get("skipInstancesOnValidationError"):
            stranger = asked[found.index(None)]
            raise ChangeError("RESOURCE_NOT_FOUND", f"The instance '{stranger}' is not a member of {group.name}.")
        return [machine for machine in found if machine is not None]


def _check_count(instances: Sequence[object]) -> None:
    if not 0 < len(instances) <= _MOST:
        raise invalid(f"Invalid value for field 'instances': there are {len(instances)}, and 1 to {_MOST} are allowed.")
