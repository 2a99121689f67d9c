"""Refusals of the API server, as Kubernetes words them."""

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
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def not_found(resource: str, name: str) -> StatusError:
    """Return the refusal for an object that is not there."""
    return StatusError(404, "NotFound", f'{resource} "{name}" not found', details={"name": name, "kind": resource})


def already_exists(resource: str, name: str) -> StatusError:
    """Return the refusal for a name that is taken."""
    return StatusError(
        409, "AlreadyExists", f'{resource} "{name}" already exists', details={"name": name, "kind": resource}
    )


def conflict(resource: str, name: str) -> StatusError:
    """Return the refusal for an update of an object that somebody else changed first."""
    return StatusError(
        409,
        "Conflict",
        f'Operation cannot be fulfilled on {resource} "{name}": the object has been modified; '
        "please apply your changes to the latest version and try again",
        details={"name": name, "kind": resource},
    )
