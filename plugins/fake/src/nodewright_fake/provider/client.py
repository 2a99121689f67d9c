"""Calls of the fake cloud's API, with its refusals as errors of the contract."""

import http.client
import json
import select
from socket import socket
from threading import Lock
from typing import Any
from urllib.parse import quote, urlsplit

from nodewright.api import (
    AccessDeniedError,
    CapacityError,
    CloudUnavailableError,
    ForeignNodeError,
    GroupNotFoundError,
    NodewrightError,
    PermanentError,
    SizeLimitError,
    ThrottledError,
)

from nodewright_fake.cloud.refusal import parse_error

#: Seconds without a sign of life until a call is given up.
_TIMEOUT = 20.0


class CloudClient:
    """Keeps connections open between calls. Safe to use from any thread."""

    def __init__(self, url: str, *, user_agent: str) -> None:
        self.url = url
        self._address = urlsplit(url)
        self._user_agent = user_agent
        self._lock = Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._closed = False

    def get(self, *path: str) -> Any:
        """Ask for something; raises `NodewrightError`."""
        return self._call("GET", path, None)

    def post(self, *path: str, body: Any) -> Any:
        """Have something done; raises `NodewrightError`."""
        return self._call("POST", path, body)

    def close(self) -> None:
        """Close all connections; those of calls that are under way, as soon as they have ended."""
        with self._lock:
            idle, self._idle = self._idle, []
            self._closed = True
        for connection in idle:
            connection.close()

    def _call(self, method: str, path: tuple[str, ...], body: Any) -> Any:
        connection = self._connection()
        try:
            connection.request(
                method,
                "/" + "/".join(quote(part, safe="") for part in path),
                body=None if body is None else json.dumps(body),
                headers={"User-Agent": self._user_agent, "Content-Type": "application/json"},
            )
            response = connection.getresponse()
            answer = json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            connection.close()
            raise CloudUnavailableError(
                f"the fake cloud at {self.url} did not answer {method} /{'/'.join(path)}: {error or repr(error)}; "
                "check that its world is up (nodewright world up) and that this is its address"
            ) from error
        with self._lock:
            if self._closed:
                connection.close()
            else:
                self._idle.append(connection)
        if response.status >= 300:
            raise _error(response.status, answer)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        with self._lock:
            while self._idle:
                connection = self._idle.pop()
                # What can be read before a request was sent is the end of the connection.
                if not _readable(connection.sock):
                    return connection
                connection.close()
        return http.client.HTTPConnection(self._address.hostname or "", self._address.port, timeout=_TIMEOUT)


def _readable(connection: socket) -> bool:
    # Unlike select, poll takes any number of open files.
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


def _error(status: int, refusal: dict[str, Any]) -> NodewrightError:
    code, message = refusal.get("code", ""), refusal.get("message", f"HTTP status {status}")
    if "cause" in refusal:
        return CapacityError(parse_error(refusal["cause"]))
    match code:
        case "THROTTLED":
            return ThrottledError(message, retry_after=refusal.get("retryAfter"))
        case "ACCESS_DENIED":
            return AccessDeniedError(message)
        case "GROUP_NOT_FOUND":
            return GroupNotFoundError(message)
        case "FOREIGN_INSTANCE":
            return ForeignNodeError(message)
        case "SIZE_LIMIT":
            return SizeLimitError(message)
    return CloudUnavailableError(message) if status >= 500 else PermanentError(message)
