"""Refusals of the API server, as Kubernetes words them."""

from collections.abc import Sequence
from typing import Any


class StatusError(Exception):
    """A request that the API server refuses; becomes a ``Status`` object on the wire."""

    def __init__(
        self, code: int, reason: str, message: str, *, details: dict[str, Any] | None = None, retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.retry_after = retry_after

    @property
    def body(self) -> dict[str, Any]:
        """The ``Status`` object."""
        details = {**self.details, "retryAfterSeconds": self.retry_after} if self.retry_after else self.details
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": details,
            "code": self.code,
        }


def success(details: dict[str, Any] | None = None, code: int = 200) -> dict[str, Any]:
    """Return the ``Status`` object for a request that leaves nothing to show."""
    status: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return {**status, "details": details} if details else {**status, "code": code}


def not_found(resource: str, name: str) -> StatusError:
    """Return the refusal for an object that is not there."""
    return StatusError(404, "NotFound", f'{resource} "{name}" not found', details=_about(resource, name))


def unknown_path() -> StatusError:
    """Return the refusal for a path that leads nowhere."""
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def method_not_allowed() -> StatusError:
    """Return the refusal for a resource that does not do this."""
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message)


def already_exists(resource: str, name: str) -> StatusError:
    """Return the refusal for a name that is taken."""
    return StatusError(409, "AlreadyExists", f'{resource} "{name}" already exists', details=_about(resource, name))


def conflict(resource: str, name: str, because: str = "") -> StatusError:
    """Return the refusal for an update of an object that has changed since, or *because* of something else."""
    because = because or ("the object has been modified; please apply your changes to the latest version and try again")
    message = f'Operation cannot be fulfilled on {resource} "{name}": {because}'
    return StatusError(409, "Conflict", message, details=_about(resource, name))


def bad_request(message: str) -> StatusError:
    """Return the refusal for a request that cannot be understood."""
    return StatusError(400, "BadRequest", message)


def invalid(kind: str, group: str, name: str, causes: Sequence[tuple[str, str]]) -> StatusError:
    """Return the refusal for an object with wrong fields; *causes* are pairs of a field and what is wrong with it."""
    qualified = f"{kind}.{group}" if group else kind
    wrongs = [f"{field}: {problem}" for field, problem in causes]
    text = wrongs[0] if len(wrongs) == 1 else f"[{', '.join(wrongs)}]"
    details = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [{"reason": "FieldValueInvalid", "message": problem, "field": field} for field, problem in causes],
    }
    return StatusError(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', details=details)


def forbidden(resource: str, name: str, because: str) -> StatusError:
    """Return the refusal for what no client may do."""
    subject = f'{resource} "{name}"' if name else resource
    return StatusError(403, "Forbidden", f"{subject} is forbidden: {because}", details=_about(resource, name))


def unauthorized() -> StatusError:
    """Return the refusal for someone without a known token."""
    return StatusError(401, "Unauthorized", "Unauthorized")


def expired(message: str) -> StatusError:
    """Return the refusal for a version of the cluster that is not kept any more."""
    return StatusError(410, "Expired", message)


def version_from_the_future(wanted: int, current: int) -> StatusError:
    """Return the refusal for a version that the cluster has not reached yet."""
    message = f"Timeout: Too large resource version: {wanted}, current: {current}"
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return StatusError(504, "Timeout", message, details={"causes": causes}, retry_after=1)


def unsupported_media_type(found: str, accepted: Sequence[str]) -> StatusError:
    """Return the refusal for a body in a format that is not read."""
    message = f"the body of the request was in an unknown format - accepted media types include: {', '.join(accepted)}"
    return StatusError(415, "UnsupportedMediaType", f"{message} (found {found!r})")


def not_acceptable(accepted: Sequence[str]) -> StatusError:
    """Return the refusal for a client that reads none of the formats the server writes."""
    message = f"only the following media types are accepted: {', '.join(accepted)}"
    return StatusError(406, "NotAcceptable", message)


def _about(resource: str, name: str) -> dict[str, Any]:
    plural, _, group = resource.partition(".")
    details = {"name": name, "group": group, "kind": plural}
    return {key: value for key, value in details.items() if value}
