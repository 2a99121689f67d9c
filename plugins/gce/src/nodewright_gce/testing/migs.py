"""``instanceGroupManagers``, zonal and regional: what the double answers."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodewright_gce.resources.address import Address, Place
from nodewright_gce.testing.fleet import Fleet
from nodewright_gce.testing.group import Group, Machine, ResizeRequest
from nodewright_gce.testing.messages import Call, RefusalError, invalid, not_found
from nodewright_gce.testing.operations import ChangeError, Operations
from nodewright_gce.testing.pages import page_of
from nodewright_gce.testing.urls import path_of, place_url, url

#: Most machines that one call creates or deletes.
_MOST = 1000
_ACTIONS = (
    "abandoning",
    "creating",
    "creatingWithoutRetries",
    "deleting",
    "none",
    "recreating",
    "refreshing",
    "restarting",
    "resuming",
    "starting",
    "stopping",
    "suspending",
    "verifying",
)

Handler = Callable[[Call], Mapping[str, Any]]


class Migs:
    """Answers calls about managed instance groups."""

    def __init__(self, fleet: Fleet, operations: Operations) -> None:
        self.fleet = fleet
        #: At most so many entries are on a page.
        self.longest = 500
        #: Whether answers about groups tell their state as it was at the read before.
        self.trailing = False
        self._operations = operations
        self._told: dict[str, Mapping[str, Any]] = {}
        zonal: dict[str, Handler] = {
            "list": self._list,
            "get": lambda call: self._show(self._group(call)),
            "list_managed_instances": self._list_machines,
            "list_errors": self._list_errors,
            "create_instances": self._change(self._create),
            "delete_instances": self._change(self._delete),
            "abandon_instances": self._change(self._abandon),
            "recreate_instances": self._change(self._recreate),
            "resize": self._change(self._resize),
            "patch": self._change(self._patch),
            "delete": self._change(self._remove),
        }
        requests: dict[str, Handler] = {
            "list": self._list_requests,
            "get": lambda call: _show_request(self._group(call), self._request(call)),
            "insert": self._change(self._insert_request),
            "cancel": self._change(self._cancel_request),
        }
        groups: dict[str, Handler] = {"list": self._list_groups}
        self.handlers: Mapping[str, Mapping[str, Handler]] = {
            "instance_group_managers": {**zonal, "aggregated_list": self._list_everywhere},
            "region_instance_group_managers": zonal,
            "instance_group_manager_resize_requests": requests,
            "region_instance_group_manager_resize_requests": requests,
            "instance_groups": groups,
            "region_instance_groups": groups,
        }

    def _group(self, call: Call) -> Group:
        if call.place is None:
            raise not_found(call.name)
        return self.fleet.group(Address(place=call.place, name=call.name))

    def _groups_in(self, place: Place | None) -> list[Group]:
        return sorted(
            (group for group in self.fleet.groups.values() if group.address.place == place), key=lambda each: each.name
        )

    def _change(self, change: Callable[[Call], None]) -> Handler:
        return lambda call: self._operations.begin(call, lambda: change(call))

    # Reading

    def _list(self, call: Call) -> Mapping[str, Any]:
        shown = [self._show(group) for group in self._groups_in(call.place)]
        return page_of(shown, call.arguments, longest=self.longest)

    def _list_everywhere(self, call: Call) -> Mapping[str, Any]:
        places = {group.address.place for group in self.fleet.groups.values()}
        items: dict[str, Any] = {}
        for place in sorted(places):
            scope = place.path.split("/", 2)[2]
            items[scope] = {"instanceGroupManagers": [self._show(group) for group in self._groups_in(place)]}
        return {"items": items}

    def _list_groups(self, call: Call) -> Mapping[str, Any]:
        shown = [
            {
                "name": group.name,
                "selfLink": url(f"{group.address.place.path}/instanceGroups/{group.name}"),
                "size": len(group.machines),
                "zone": place_url(group.address.place),
            }
            for group in self._groups_in(call.place)
        ]
        return page_of(shown, call.arguments, longest=self.longest)

    def _list_machines(self, call: Call) -> Mapping[str, Any]:
        group = self._group(call)
        shown = [self._show_machine(machine) for machine in group.machines.values()]
        if group.settings.get("listManagedInstancesResults", "PAGELESS") == "PAGELESS":
            return {"managedInstances": shown} if shown else {}
        return page_of(shown, call.arguments, longest=self.longest, key="managedInstances")

    def _list_errors(self, call: Call) -> Mapping[str, Any]:
        newest_first = list(reversed(self._group(call).history))
        return page_of(newest_first, call.arguments, longest=self.longest)

    def _list_requests(self, call: Call) -> Mapping[str, Any]:
        group = self._group(call)
        shown = [_show_request(group, request) for request in group.requests.values()]
        return page_of(shown, call.arguments, longest=self.longest)

    def _request(self, call: Call) -> ResizeRequest:
        request = self._group(call).requests.get(call.child)
        if request is None:
            raise not_found(f"resizeRequests/{call.child}")
        return request

    # Changing

    def _create(self, call: Call) -> None:
        group = self._group(call)
        instances = call.arguments.get("instances", [])
        _check_count(instances)
        self.fleet.create(group, [str(each["name"]) for each in instances])

    def _delete(self, call: Call) -> None:
        group = self._group(call)
        machines = self._named(group, call)
        for machine in machines:
            request = group.requests.get(machine.request)
            if request is not None and request.open:
                raise ChangeError(
                    "INVALID_USAGE", f"Instance {machine.name} belongs to resize request {request.name}: cancel that."
                )
        self.fleet.delete(group, machines)

    def _abandon(self, call: Call) -> None:
        group = self._group(call)
        self.fleet.delete(group, self._named(group, call), "ABANDONING")

    def _recreate(self, call: Call) -> None:
        for machine in self._named(self._group(call), call):
            self.fleet.recreate(machine)

    def _resize(self, call: Call) -> None:
        group = self._group(call)
        size = int(call.arguments.get("size", -1))
        if size < 0:
            raise invalid(f"Invalid value for field 'size': '{size}'. Must be greater than or equal to 0.")
        self.fleet.resize(group, size)

    def _patch(self, call: Call) -> None:
        group = self._group(call)
        body = {key: value for key, value in call.arguments.items() if key != "requestId"}
        if body.pop("fingerprint", str(group.fingerprint)) != str(group.fingerprint):
            raise RefusalError(412, "conditionNotMet", "Invalid fingerprint.")
        group.fingerprint += 1
        if "targetSize" in body:
            self.fleet.resize(group, int(body.pop("targetSize")))
        group.settings |= body

    def _remove(self, call: Call) -> None:
        self.fleet.remove(self._group(call))

    def _insert_request(self, call: Call) -> None:
        group = self._group(call)
        arguments = call.arguments
        duration = arguments.get("requestedRunDuration")
        self.fleet.insert(
            group,
            ResizeRequest(
                name=str(arguments["name"]),
                count=int(arguments["resizeBy"]),
                made_at=self.fleet.clock.now(),
                seconds=float(duration["seconds"]) if duration else None,
            ),
        )

    def _cancel_request(self, call: Call) -> None:
        self.fleet.cancel(self._group(call), self._request(call))

    def _named(self, group: Group, call: Call) -> Sequence[Machine]:
        """The machines that a call names; those that are not in the group are an error, unless they are skipped."""
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

    # Showing

    def _show(self, group: Group) -> Mapping[str, Any]:
        place = group.address.place
        state = self._state(group)
        return {
            "kind": "compute#instanceGroupManager",
            "id": str(hash_of(group.id)),
            "name": group.name,
            "region" if place.regional else "zone": place_url(place),
            "selfLink": url(group.address.path),
            "instanceGroup": group.id,
            "baseInstanceName": group.base,
            "targetSize": group.target,
            "targetStoppedSize": group.stopped,
            "targetSuspendedSize": group.suspended,
            "fingerprint": str(group.fingerprint),
            "listManagedInstancesResults": "PAGELESS",
            **group.settings,
            **state,
        }

    def _state(self, group: Group) -> Mapping[str, Any]:
        """How the group is doing; as it was at the last read, if answers trail."""
        counted = Counter(_in_camel_case(machine.action) for machine in group.machines.values())
        stateful = bool(group.settings.get("statefulPolicy"))
        status: dict[str, Any] = {
            "isStable": group.stable,
            "versionTarget": {"isReached": True},
            "stateful": {
                "hasStatefulConfig": stateful or group.configured,
                "perInstanceConfigs": {"allEffective": group.stable},
            },
            "allInstancesConfig": {"effective": True},
        }
        if group.autoscaler:
            status["autoscaler"] = group.autoscaler
        now = {"currentActions": {action: counted[action] for action in _ACTIONS}, "status": status}
        told = self._told.get(group.id, now)
        self._told[group.id] = now
        return told if self.trailing else now

    def _show_machine(self, machine: Machine) -> Mapping[str, Any]:
        version = {"instanceTemplate": machine.template} | ({"name": machine.version} if machine.version else {})
        shown: dict[str, Any] = {
            "name": machine.name,
            "currentAction": machine.action,
            "targetStatus": machine.target_status,
            "lastAttempt": {},
            "version": version,
        }
        if not machine.queued:
            shown["instance"] = url(machine.path)
        if machine.id:
            shown["id"] = str(machine.id)
        if machine.status:
            shown["instanceStatus"] = machine.status
        if machine.errors and not machine.attempting and machine.shown_at <= self.fleet.clock.now():
            shown["lastAttempt"] = {"errors": {"errors": machine.errors}}
        if machine.flexible:
            shown["propertiesFromFlexibilityPolicy"] = {"machineType": machine.pool.machine_type}
        if machine.ends_at is not None:
            shown["scheduling"] = {"terminationTimestamp": machine.ends_at.isoformat(timespec="milliseconds")}
        return shown


def hash_of(text: str) -> int:
    """Return a number that looks like an id of the API, the same in every run."""
    return int.from_bytes(text.encode()[-7:]) + (1 << 60)


def _check_count(instances: Sequence[object]) -> None:
    if len(instances) > _MOST:
        raise invalid(f"Invalid value for field 'instances': at most {_MOST} instances are allowed.")


def _show_request(group: Group, request: ResizeRequest) -> Mapping[str, Any]:
    shown: dict[str, Any] = {
        "name": request.name,
        "state": request.state,
        "resizeBy": request.count,
        "creationTimestamp": request.made_at.isoformat(timespec="milliseconds"),
        "selfLink": url(f"{group.address.path}/resizeRequests/{request.name}"),
        "status": {},
    }
    if request.seconds is not None:
        shown["requestedRunDuration"] = {"seconds": str(int(request.seconds))}
    if request.errors:
        errors = {"errors": {"errors": request.errors}}
        shown["status"] = {"error": errors["errors"]} if request.state == "FAILED" else {"lastAttempt": errors}
    return shown


def _in_camel_case(action: str) -> str:
    first, *rest = action.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)
