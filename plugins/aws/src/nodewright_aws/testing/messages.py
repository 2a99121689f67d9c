"""What goes over the wire, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """A call of AWS; *service*, *operation* and *arguments* are in boto3's words."""

    service: str
    operation: str
    method: str
    #: With the query string.
    path: str
    headers: Mapping[str, str]
    body: bytes
    #: Empty for services that this package passes on unread.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: That the call was signed with.
    access_key: str = ""
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the client gets."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """AWS says no: *code* and message as in its documentation."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class HangUpError(Exception):
    """The connection ends without an answer."""


def validation_error(message: str) -> RefusalError:
    """Return the refusal that Auto Scaling gives for almost everything."""
    return RefusalError("ValidationError", message)
