"""The inventory of a shed: all that talks to the cloud, and what it says, as values and errors."""

import json
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Literal, TypeVar
from urllib.parse import quote, urlsplit

from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ErrorClass,
    GroupNotFoundError,
    InstanceError,
    NodewrightError,
    PermanentError,
    TemporaryError,
    ThrottledError,
)
from pydantic import BaseModel, TypeAdapter, ValidationError

Answer = TypeVar("Answer")

# EDIT: the codes by which your cloud says why it has no machine. The class decides how long a group is left alone, and
# whether other groups are, too.
WHY = {
    "no-machines": ErrorClass.STOCK_OUT,
    "over-quota": ErrorClass.QUOTA,
    "not-allowed": ErrorClass.PERMISSION,
    "bad-image": ErrorClass.CONFIGURATION,
}


# EDIT: what your cloud says of a machine, of a kind of machines, and of a group. A field that is missing or of another
# type makes the whole answer one that can't be used: incomplete facts are worse than none.
class Machine(BaseModel):
    """A machine in a rack. One that has failed says why by a code."""

    state: Literal["Creating", "Running", "Deleting", "Failed"]
    code: str = ""


class Hardware(BaseModel):
    """What the machines of a rack are like. Amounts are written as in Kubernetes."""

    labels: dict[str, str]
    capacity: dict[str, str]
    allocatable: dict[str, str]


class Reading(BaseModel):
    """A rack at one moment. The version changes whenever anything in it does."""

    version: str
    min: int
    places: int
    wanted: int
    machines: dict[str, Machine]
    hardware: Hardware


_READING = TypeAdapter(Reading)
_READINGS = TypeAdapter(dict[str, Reading])


class Inventory:
    """The API of a shed. Safe to use from any thread. Every method raises `NodewrightError`, and nothing else.

    A call that shows no sign of life for *timeout* seconds is given up: an action that hangs blocks its group.
    """

    def __init__(self, url: str, token: str, *, timeout: float, user_agent: str) -> None:
        self._url = url
        self._timeout = timeout
        self._headers = {"Authorization": f"Bearer {token}", "User-Agent": user_agent}

    # EDIT: the calls of your cloud. Read all pages. Ask once for all groups and machines, not once for each.
    def racks(self) -> Mapping[str, Reading]:
        """Read all racks, by name."""
        return self._call("GET", "/racks", _READINGS)

    def rack(self, name: str) -> Reading:
        """Read one rack."""
        return self._call("GET", f"/racks/{quote(name)}", _READING)

    # EDIT: both changes are made in one call, and only if the rack is as it was read. If your cloud needs two calls for
    # one change, undo the first if the second fails.
    def want(self, name: str, reading: Reading, machines: int) -> Reading:
        """Have so many machines in the rack that was read; return it as it is then."""
        body = {"version": reading.version, "wanted": machines}
        return self._call("PATCH", f"/racks/{quote(name)}", _READING, body)

    def remove(self, name: str, reading: Reading, machines: Sequence[str]) -> Reading:
        """Have machines carried out of the rack that was read, and as many less wanted; return it as it is then."""
        body = {"version": reading.version, "machines": list(machines)}
        return self._call("POST", f"/racks/{quote(name)}/removals", _READING, body)

    def _call(self, method: str, path: str, form: TypeAdapter[Answer], body: object = None) -> Answer:
        """Send one request. It is never repeated: the next loop decides anew, and knows what became of this one."""
        where = urlsplit(self._url)
        connect = HTTPSConnection if where.scheme == "https" else HTTPConnection
        connection = connect(where.netloc, timeout=self._timeout)
        try:
            connection.request(method, where.path.rstrip("/") + path, json.dumps(body), self._headers)
            response = connection.getresponse()
            content = response.read()
            if response.status != 200:
                raise refusal(response.status, content.decode(errors="replace"), response.getheader("Retry-After"))
            return form.validate_json(content)
        except (OSError, HTTPException) as error:
            raise CloudUnavailableError(f"the shed at {self._url} did not answer {method} {path}: {error!r}") from error
        except ValidationError as error:
            raise CloudUnavailableError(f"the answer of the shed to {method} {path} can't be used: {error}") from error
        finally:
            connection.close()


# EDIT: which refusal of your cloud is which error. The type matters: Nodewright tries again after some, leaves the
# group alone after others, and reports those that need a person (docs/provider-authors.md has the list).
def refusal(status: int, said: str, wait: str | None) -> NodewrightError:
    """The error for an answer that says no."""
    match status:
        case 401 | 403:
            return AccessDeniedError(f"the shed lets nobody in with this token: {said}; check the setting token")
        case 404:
            return GroupNotFoundError(f"the shed has no such rack any more: {said}")
        case 409:
            return TemporaryError(f"someone else has changed the rack just now: {said}; nothing was done")
        case 429:
            return ThrottledError(f"the shed asks for fewer calls: {said}", retry_after=seconds(wait))
        case 507:
            return CapacityError(failure(said))
    if status >= 500:
        return CloudUnavailableError(f"the shed is out of order: {status} {said}")
    return PermanentError(f"the shed does not understand what it is asked: {status} {said}")


def failure(code: str) -> InstanceError:
    """Why a machine does not come, from the code of the cloud."""
    return InstanceError(error_class=WHY.get(code, ErrorClass.OTHER), code=code)


def seconds(wait: str | None) -> float | None:
    """How long to wait, if the shed says so in a way that we understand."""
    return float(wait) if wait and wait.isdigit() else None
