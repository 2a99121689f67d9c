"""Errors of requests to the API server, in words that say what to fix."""

import http.client
import json
import ssl
from collections.abc import Iterator

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
)

from nodewright.api.errors import AccessDeniedError, ApiServerError, ConflictError, Right

#: The API server refuses to create anything in a namespace that is being deleted, whatever the rights.
_TERMINATING = "being terminated"
_WITHOUT_BODY = {429: "it asks for fewer requests", 503: "it is not available"}


def no_answer_text(host: str, error: BaseException) -> str:
    """Return why a request got no answer."""
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return (
                f"the certificate of the API server at {host} is not accepted: {cause.verify_message}; "
                "check the certificate authority and the address in the kubeconfig"
            )
        if isinstance(cause, ssl.SSLError):
            reason = (cause.reason or str(cause)).replace("_", " ").lower()
            return (
                f"no TLS connection to the API server at {host}: {reason}; check the address and the client certificate"
            )
    return f"the API server at {host} does not answer: {_reason(causes)}"


def refusal_error(
    host: str, right: Right | None, path: str, response: urllib3.BaseHTTPResponse, body: bytes
) -> Exception:
    """Return the error for a response with an HTTP status of 400 or above."""
    said, status = _said(body, response.status), response.status
    what = right.request if right is not None else path
    if status == 401:
        return AccessDeniedError(
            f"the API server at {host} does not accept our credentials ({said}): they have expired, or belong to "
            "another cluster; they are read again",
            status=status,
        )
    if status == 403 and right is not None and f"cannot {right.verb} resource" in said and _TERMINATING not in said:
        return AccessDeniedError(missing_right_text(right, said), status=status, right=right)
    if status == 403:
        return AccessDeniedError(f"{what}: {said}", status=status)
    if status == 409:
        return ConflictError(f"{what}: {said}", status=status)
    return ApiServerError(f"{what}: {said}", status=status, retry_after=_seconds(response.headers.get("Retry-After")))


def unready_error(host: str, right: Right, pause: float) -> ApiServerError:
    """Return the error for a refusal by an API server that has just come back and is not ready (503)."""
    message = f"the API server at {host} has just come back and does not know yet whether we may {right}"
    return ApiServerError(message, status=503, retry_after=pause)


def missing_right_text(right: Right, said: str) -> str:
    """Return how to grant a missing right; *said* is the API server's message."""
    group = f'API group "{right.group}"' if right.group else 'the core API group ("")'
    role = (
        f"a Role of namespace {right.namespace} or ClusterRole nodewright"
        if right.namespace
        else "ClusterRole nodewright"
    )
    rule = f'verb "{right.verb}" on "{right.resource}" of {group}'
    return f"may not {right}: give the service account {rule} in {role} ({said})"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and its causes, the innermost last."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        inner = [each for each in (getattr(error, "reason", None), *error.args) if isinstance(each, BaseException)]
        error = inner[0] if inner else error.__cause__ or error.__context__


def _reason(causes: list[BaseException]) -> str:
    for cause in causes:
        match cause:
            case NameResolutionError():
                return "its host name is unknown"
            case NewConnectionError():
                continue  # the operating system's error comes next
            case ConnectTimeoutError():
                return "no connection in time"
            case ReadTimeoutError():
                return "no response in time"
            case ProxyError():
                return f"the proxy in front of it fails: {cause}"
            case http.client.IncompleteRead():
                return "its answer broke off"
            case ConnectionError() if not cause.strerror:
                # From http.client: the other side hung up without a word.
                return "it closed the connection"
            case OSError() if cause.strerror:
                return cause.strerror.lower()
    return str(causes[-1]) or type(causes[-1]).__name__


def _said(body: bytes, status: int) -> str:
    try:
        message = str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        message = body[:200].decode(errors="replace").strip()
    return message or _WITHOUT_BODY.get(status) or f"HTTP status {status}"


def _seconds(text: str | None) -> float | None:
    """Return how many seconds the server asks to wait. HTTP also allows a date, which API servers don't send."""
    return float(text) if text and text.isascii() and text.isdigit() else None
