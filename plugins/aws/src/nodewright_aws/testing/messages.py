"""Requests, replies and refusals as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Request:
    """A call of AWS; *service*, *operation* and *arguments* are in boto3's names."""

    service: str
    operation: str
    method: str
    #: With the query string.
    path: str
    headers: Mapping[str, str]
    body: bytes
    #: Empty for services whose calls are passed to moto unparsed.
    arguments: Mapping[str, Any] = field(default_factory=dict)
    #: The key that the call was signed with.
    access_key: str = ""
    region: str = ""


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The answer to the client."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class RefusalError(Exception):
    """AWS refuses a call; *code* and message are as in its documentation."""

    def __init__(self, code: str, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.code = code
        self.status = status


class HangUpError(Exception):
    """The connection is closed without an answer."""


def validation_error(message: str) -> RefusalError:
    """Return the refusal that Auto Scaling uses for almost everything."""
    return RefusalError("ValidationError", message)
