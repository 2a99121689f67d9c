"""The cloud's API: requests and answers as plain JSON."""

from collections.abc import Callable
from threading import Event
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import Field, ValidationError

from nodewright_fake.cloud.actions import ACTIONS, perform
from nodewright_fake.cloud.cloud import Cloud, Group
from nodewright_fake.cloud.group import GroupSettings
from nodewright_fake.cloud.instance import CloudInstance
from nodewright_fake.cloud.refusal import RefusalError, bad_request, error_body
from nodewright_fake.mistakes import mistakes
from nodewright_fake.settings import Settings

CURRENCY = "USD"

Request = TypeVar("Request", bound=Settings)


class IncreaseRequest(Settings):
    """How many more machines, and the most that the group may be asked for then."""

    count: int = Field(ge=1)
    up_to: int | None = None


class DecreaseRequest(Settings):
    """How many machines less."""

    count: int = Field(ge=1)


class InstancesRequest(Settings):
    """Which machines, by provider ID, and the fewest that must be left."""

    ids: tuple[str, ...] = Field(min_length=1)
    keep: int = 0


class CloudApi:
    """Answers requests to a cloud. Called on the threads of the HTTP server.

    ``/v1`` is what customers call: each call passes the cloud's gate, where it may be slowed down or refused.
    ``/control`` is for those who play the world: it is never refused.
    """

    def __init__(self, cloud: Cloud, closing: Event) -> None:
        self._cloud = cloud
        self._closing = closing

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Return the answer to a request; raises `RefusalError`."""
        match method, [unquote(part) for part in path.split("/")[1:]]:
            case "GET", ["v1", "snapshot"]:
                return self._pass("snapshot", self._snapshot)
            case "GET", ["v1", "prices"]:
                return self._pass("prices", self._prices)
            case "POST", ["v1", "groups"]:
                return self._pass("create-group", lambda: self._create_group(body))
            case "DELETE", ["v1", "groups", name]:
                return self._pass("delete-group", lambda: self._cloud.delete_group(name))
            case "POST", ["v1", "groups", name, operation] if operation in _RESIZING:
                return self._pass(operation, lambda: {"desired": _RESIZING[operation](self._cloud, name, body)})
            case "GET", ["control"]:
                return self._state()
            case "POST", ["control", action]:
                return self._control(action, body)
        raise RefusalError(404, "NO_SUCH_PATH", f"there is nothing at {method} {path}")

    def _pass(self, operation: str, serve: Callable[[], Any]) -> Any:
        latency, refusal = self._cloud.gate.admit(operation)
        if latency:
            self._closing.wait(latency)
        if refusal is not None and not refusal.done:
            raise refusal
        answer = serve()
        if refusal is not None:
            raise refusal
        return answer

    def _snapshot(self) -> Any:
        cloud = self._cloud
        with cloud.lock:
            return {
                "at": cloud.agenda.clock.now().isoformat(),
                "zones": cloud.zones,
                "instanceTypes": {
                    name: _dump(instance_type, exclude={"price", "spot_price"})
                    for name, instance_type in cloud.instance_types.items()
                },
                "limits": {name: _dump(bounds) for name, bounds in cloud.limits.items()},
                "groups": [self._group(group) for group in cloud.groups],
            }

    def _group(self, group: Group) -> Any:
        machines = self._cloud.fleet.of(group.settings.name)
        told = {
            "quotas": self._cloud.supply.taken_of_quotas(group.settings) or None,
            "available": self._cloud.supply.left(group.settings),
            "error": error_body(group.error) if group.error else None,
            "pause": vars(group.pause) if group.pause else None,
        }
        return {
            "settings": _dump(group.settings),
            "desired": group.desired,
            "instances": [_instance_body(machine) for machine in machines],
            **{name: value for name, value in told.items() if value is not None},
        }

    def _prices(self) -> Any:
        with self._cloud.lock:
            return {
                "currency": CURRENCY,
                "hourly": {
                    name: {
                        "on-demand": instance_type.hourly_price(spot=False),
                        "spot": instance_type.hourly_price(spot=True),
                    }
                    for name, instance_type in self._cloud.instance_types.items()
                },
            }

    def _create_group(self, body: Any) -> None:
        self._cloud.create_group(_read(GroupSettings, body, self._cloud))

    def _control(self, action: str, body: Any) -> Any:
        try:
            perform(self._cloud, action, {} if body is None else body)
        except ValidationError as error:
            raise _unreadable(error, ACTIONS[action]) from None
        return self._state()

    def _state(self) -> Any:
        """What is set, counted and spent so far."""
        cloud = self._cloud
        with cloud.lock:
            return {
                "at": cloud.agenda.clock.now().isoformat(),
                "actions": {name: action.summary for name, action in ACTIONS.items()},
                "stocks": [vars(stock) for stock in cloud.supply.stocks],
                "quotas": [vars(quota) for quota in cloud.supply.quotas],
                "bootFaults": [
                    {"groups": fault.groups, "kind": fault.kind, "share": fault.share, "times": fault.times}
                    for fault in cloud.boot_faults
                ],
                "apiFaults": [
                    {"kind": fault.kind, "operations": fault.operations, "times": fault.times} for fault in cloud.gate
                ],
                "calls": cloud.gate.calls,
                "refused": cloud.gate.refused,
                "spending": {
                    group: {"machineHours": round(spent.hours, 4), "cost": round(spent.cost, 4)}
                    for group, spent in cloud.spending.items()
                },
            }


def _increase(cloud: Cloud, group: str, body: Any) -> int:
    request = _read(IncreaseRequest, body, cloud)
    return cloud.increase(group, request.count, up_to=request.up_to)


def _increase_atomically(cloud: Cloud, group: str, body: Any) -> int:
    request = _read(IncreaseRequest, body, cloud)
    return cloud.increase(group, request.count, up_to=request.up_to, atomic=True)


def _decrease_target(cloud: Cloud, group: str, body: Any) -> int:
    return cloud.decrease_target(group, _read(DecreaseRequest, body, cloud).count)


def _delete_instances(cloud: Cloud, group: str, body: Any) -> int:
    request = _read(InstancesRequest, body, cloud)
    return cloud.delete_instances(group, request.ids, keep=request.keep)


def _force_delete_instances(cloud: Cloud, group: str, body: Any) -> int:
    return cloud.delete_instances(group, _read(InstancesRequest, body, cloud).ids, force=True)


_RESIZING: dict[str, Callable[[Cloud, str, Any], int]] = {
    "increase": _increase,
    "increase-atomically": _increase_atomically,
    "decrease-target": _decrease_target,
    "delete-instances": _delete_instances,
    "force-delete-instances": _force_delete_instances,
}


def _read(model: type[Request], body: Any, cloud: Cloud) -> Request:
    try:
        return model.model_validate(body, context=cloud.known)
    except ValidationError as error:
        raise _unreadable(error, model) from None


def _unreadable(error: ValidationError, model: type[Settings]) -> RefusalError:
    return bad_request("; ".join(str(mistake) for mistake in mistakes(error, model)))


def _dump(settings: Settings, exclude: set[str] | None = None) -> Any:
    return settings.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=exclude)


def _instance_body(machine: CloudInstance) -> Any:
    body = {
        "id": machine.id,
        "state": machine.state,
        "createdAt": machine.created_at.isoformat(),
        "incarnation": str(machine.incarnation),
    }
    return body if machine.error is None else {**body, "error": error_body(machine.error)}
