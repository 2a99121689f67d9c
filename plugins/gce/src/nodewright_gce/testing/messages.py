"""Requests, replies and refusals as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodewright_gce.resources.address import Place


@dataclass(frozen=True, kw_only=True)
class Call:
    """What a request asks for, in the names of Cluster Autoscaler's metrics."""

    #: Such as ``instance_group_managers``, or ``region_operations``.
    resource: str
    #: Such as ``list`` or ``create_instances``.
    verb: str
    project: str = ""
    #: None for what is global.
    place: Place | None = None
    name: str = ""
    #: Of what is below `name`: a resize request.
    child: str = ""
    #: Query and body.
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.resource}:{self.verb}"

    @property
    def local(self) -> bool:
        """Whether it asks the machine's own metadata server, or for a token, and no API."""
        return self.resource in ("metadata", "oauth")


@dataclass(frozen=True, kw_only=True)
class Request:
    """An HTTP request, and the call that it makes."""

    method: str
    #: With the query string.
    path: str
    headers: Mapping[str, str]
    body: bytes
    call: Call


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The answer to the client."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """Google refuses a call; *reason* and message are as in its catalogue of errors."""

    def __init__(self, status: int, reason: str, message: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.headers = headers or {}


class HangUpError(Exception):
    """The connection is closed without an answer."""


def not_found(path: str) -> RefusalError:
    """Return the refusal for what does not exist."""
    return RefusalError(404, "notFound", f"The resource '{path}' was not found")


def invalid(message: str) -> RefusalError:
    """Return the refusal of a value."""
    return RefusalError(400, "invalid", message)
