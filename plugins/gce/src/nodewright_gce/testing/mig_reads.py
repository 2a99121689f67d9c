"""``instanceGroupManagers``, zonal and regional: what the double answers to those who read."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodewright.api import Clock

from nodewright_gce.resources.address import Address, Place
from nodewright_gce.testing.group import Group, Machine, ResizeRequest
from nodewright_gce.testing.messages import Call, not_found
from nodewright_gce.testing.pages import page_of
from nodewright_gce.testing.urls import place_url, time_of, url
from nodewright_gce.testing.view import View

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


class MigReads:
    """Answers from a *view* of the groups. *places* are all zones and regions, and whether each can be reached."""

    def __init__(self, view: View, clock: Clock, places: Callable[[], Mapping[Place, bool]]) -> None:
        #: At most so many entries are on a page.
        self.longest = 500
        #: What is told as it was when it was read the last time: ``state`` and ``machines``.
        self.trailing: frozenset[str] = frozenset()
        self._view = view
        self._clock = clock
        self._places = places
        self._last: dict[tuple[str, str], Any] = {}
        zonal: Mapping[str, Handler] = {
            "list": self._list,
            "get": lambda call: self._show(self._group(call)),
            "list_managed_instances": self._list_machines,
            "list_errors": self._list_errors,
        }
        requests: Mapping[str, Handler] = {
            "list": self._list_requests,
            "get": lambda call: _show_request(self._group(call), request_of(self._group(call), call)),
        }
        groups: Mapping[str, Handler] = {"list": self._list_groups}
        self.handlers: Mapping[str, Mapping[str, Handler]] = {
            "instance_group_managers": {**zonal, "aggregated_list": self._list_everywhere},
            "region_instance_group_managers": zonal,
            "instance_group_manager_resize_requests": requests,
            "region_instance_group_manager_resize_requests": requests,
            "instance_groups": groups,
            "region_instance_groups": groups,
        }

    def _group(self, call: Call) -> Group:
        return self._view.group(address_of(call))

    def _groups_in(self, place: Place | None) -> list[Group]:
        found = [group for group in self._view.groups.values() if group.address.place == place]
        return sorted(found, key=lambda each: each.name)

    def _list(self, call: Call) -> Mapping[str, Any]:
        shown = [self._show(group) for group in self._groups_in(call.place)]
        return page_of(shown, call.arguments, longest=self.longest)

    def _list_everywhere(self, call: Call) -> Mapping[str, Any]:
        items: dict[str, Any] = {}
        lost = []
        for place, reached in self._places().items():
            scope = place.path.split("/", 2)[2]
            if not reached:
                lost.append(scope)
                continue
            shown = [self._show(group) for group in self._groups_in(place)]
            items[scope] = {"instanceGroupManagers": shown} if shown else {"warning": _nothing_in(scope)}
        return {"items": items} | ({"unreachables": lost} if lost else {})

    def _list_groups(self, call: Call) -> Mapping[str, Any]:
        shown = [
            {
                "name": group.name,
                "selfLink": url(f"{group.address.place.path}/instanceGroups/{group.name}"),
                "size": len(group.machines),
                "region" if group.address.place.regional else "zone": place_url(group.address.place),
            }
            for group in self._groups_in(call.place)
        ]
        return page_of(shown, call.arguments, longest=self.longest)

    def _list_machines(self, call: Call) -> Mapping[str, Any]:
        group = self._group(call)
        shown = self._late(group, "machines", self._shown(group))
        if group.settings.get("listManagedInstancesResults", "PAGELESS") == "PAGELESS":
            return {"managedInstances": shown} if shown else {}
        return page_of(shown, call.arguments, longest=self.longest, key="managedInstances")

    def _shown(self, group: Group) -> Sequence[Mapping[str, Any]]:
        return [self._show_machine(each) for each in group.machines.values() if not each.unseen]

    def _list_errors(self, call: Call) -> Mapping[str, Any]:
        newest_first = list(reversed(self._group(call).history))
        return page_of(newest_first, call.arguments, longest=self.longest)

    def _list_requests(self, call: Call) -> Mapping[str, Any]:
        group = self._group(call)
        shown = [_show_request(group, request) for request in group.requests.values()]
        return page_of(shown, call.arguments, longest=self.longest)

    def _show(self, group: Group) -> Mapping[str, Any]:
        place = group.address.place
        return {
            "kind": "compute#instanceGroupManager",
            "id": str(int.from_bytes(group.id.encode()[-7:]) + (1 << 60)),
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
            **self._late(group, "state", _state(group)),
        }

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
        if errors := machine.errors_at(self._clock.now()):
            shown["lastAttempt"] = {"errors": {"errors": errors}}
        if machine.flexible:
            shown["propertiesFromFlexibilityPolicy"] = {"machineType": machine.pool.machine_type}
        if machine.ends_at is not None:
            shown["scheduling"] = {"terminationTimestamp": time_of(machine.ends_at)}
        return shown

    def _late(self, group: Group, part: str, now: Any) -> Any:
        """*now*, or if that part trails what it was at the last read."""
        last = self._last.get((group.id, part), now)
        self._last[group.id, part] = now
        return last if part in self.trailing else now


def address_of(call: Call) -> Address:
    """Return the address of the group that a call is about; raises `RefusalError`."""
    if call.place is None:
        raise not_found(call.name)
    return Address(place=call.place, name=call.name)


def request_of(group: Group, call: Call) -> ResizeRequest:
    """Return the resize request that a call is about; raises `RefusalError`."""
    if call.child not in group.requests:
        raise not_found(f"{group.address.path}/resizeRequests/{call.child}")
    return group.requests[call.child]


def _state(group: Group) -> Mapping[str, Any]:
    """How the group is doing."""
    counted = Counter(_in_camel_case(machine.action) for machine in group.machines.values())
    status: dict[str, Any] = {
        "isStable": group.stable,
        "versionTarget": {"isReached": True},
        "stateful": {
            "hasStatefulConfig": group.configured or bool(group.settings.get("statefulPolicy")),
            "perInstanceConfigs": {"allEffective": group.stable},
        },
        "allInstancesConfig": {"effective": True},
    }
    if group.autoscaler:
        status["autoscaler"] = group.autoscaler
    return {"currentActions": {action: counted[action] for action in _ACTIONS}, "status": status}


def _show_request(group: Group, request: ResizeRequest) -> Mapping[str, Any]:
    shown: dict[str, Any] = {
        "name": request.name,
        "state": request.state,
        "resizeBy": request.count,
        "creationTimestamp": time_of(request.made_at),
        "selfLink": url(f"{group.address.path}/resizeRequests/{request.name}"),
        "status": {},
    }
    if request.seconds is not None:
        shown["requestedRunDuration"] = {"seconds": str(int(request.seconds))}
    if request.errors:
        errors = {"errors": request.errors}
        shown["status"] = {"error": errors} if request.state == "FAILED" else {"lastAttempt": {"error": errors}}
    return shown


def _nothing_in(scope: str) -> Mapping[str, Any]:
    return {
        "code": "NO_RESULTS_ON_PAGE",
        "message": f"There are no results for scope '{scope}' on this page.",
        "data": [{"key": "scope", "value": scope}],
    }


def _in_camel_case(action: str) -> str:
    first, *rest = action.lower().split("_")
    return first + "".join(part.capitalize() for part in rest)
