"""Operations: what comes of a change, told later."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from typing import Any

from nodewright.api import Clock

from nodewright_gce.resources.address import Place
from nodewright_gce.testing.messages import Call, invalid, not_found
from nodewright_gce.testing.urls import time_of, url

_NEVER = "00000000-0000-0000-0000-000000000000"


class ChangeError(Exception):
    """A change was accepted and failed: its operation says why."""

    def __init__(self, code: str, message: str, details: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(message)
        self.error: Mapping[str, Any] = {"code": code, "message": message}
        if details:
            self.error = {**self.error, "errorDetails": details}


@dataclass(kw_only=True)
class Operation:
    """A change that was asked for."""

    name: str
    id: int
    kind: str
    target: str
    place: Place | None
    begun_at: datetime
    errors: Sequence[Mapping[str, Any]] = ()
    #: How often it was read.
    reads: int = 0
    #: The call that it is about, without the id of the request.
    asked: Mapping[str, Any] = field(default_factory=dict)


class Operations:
    """All operations. They are done *seconds* after they were begun, and not before they are read once."""

    def __init__(self, clock: Clock) -> None:
        self.seconds = 0.0
        self._clock = clock
        self._known: dict[str, Operation] = {}
        self._by_request: dict[str, Operation] = {}
        self._numbers = count(1)
        reading = {"get": self.get, "wait": self.get}
        self.handlers: Mapping[str, Mapping[str, Callable[[Call], Mapping[str, Any]]]] = {
            "zone_operations": reading,
            "region_operations": reading,
        }

    def begin(self, call: Call, change: Callable[[], None]) -> Mapping[str, Any]:
        """Make a change and return its operation; a request that was made before returns the former one's."""
        request_id = str(call.arguments.get("requestId", ""))
        if request_id == _NEVER:
            raise invalid("Invalid value for field 'requestId': the zero UUID is not supported.")
        asked = {key: value for key, value in call.arguments.items() if key != "requestId"} | {
            "": str(call),
            "name": call.name,
        }
        if request_id in self._by_request:
            former = self._by_request[request_id]
            if former.asked != asked:
                raise invalid("Invalid value for field 'requestId': it was used for another request.")
            return self.show(former)
        number = next(self._numbers)
        operation = Operation(
            name=f"operation-{number:08d}",
            id=number + 4_000_000_000_000_000_000,
            kind=f"compute.{_camel(call.resource)}.{_camel(call.verb)}",
            target=call.name,
            place=call.place,
            begun_at=self._clock.now(),
            asked=asked,
        )
        try:
            change()
        except ChangeError as error:
            operation.errors = [error.error]
        self._known[operation.name] = operation
        if request_id:
            self._by_request[request_id] = operation
        return self.show(operation)

    def get(self, call: Call) -> Mapping[str, Any]:
        """Return an operation as it is now."""
        operation = self._known.get(call.name)
        if operation is None or operation.place != call.place:
            raise not_found(f"{call.place.path if call.place else 'global'}/operations/{call.name}")
        operation.reads += 1
        return self.show(operation)

    def show(self, operation: Operation) -> Mapping[str, Any]:
        """Return *operation* in the form of the API."""
        passed = (self._clock.now() - operation.begun_at).total_seconds()
        done = passed >= self.seconds and operation.reads > 0
        scope = operation.place.path if operation.place else "global"
        shown: dict[str, Any] = {
            "kind": "compute#operation",
            "id": str(operation.id),
            "name": operation.name,
            "operationType": operation.kind,
            "status": "DONE" if done else "PENDING" if passed < self.seconds / 2 else "RUNNING",
            "progress": 100 if done else 0,
            "insertTime": time_of(operation.begun_at),
            "selfLink": url(f"{scope}/operations/{operation.name}"),
            "targetLink": url(f"{scope}/instanceGroupManagers/{operation.target}"),
        }
        if operation.place is not None:
            kind = "region" if operation.place.regional else "zone"
            shown[kind] = url(operation.place.path)
        if done and operation.errors:
            shown["error"] = {"errors": operation.errors}
            shown["httpErrorStatusCode"] = 400
            shown["httpErrorMessage"] = "BAD REQUEST"
        return shown


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
