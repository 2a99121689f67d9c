"""Requests to the API server: the official client's configuration, TLS and credentials, without its object models."""

import json
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from time import sleep
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

import urllib3
from urllib3.connection import HTTPConnection

from nodewright.api.errors import AccessDeniedError, ApiServerError, ConfigurationError, ConflictError, Problem

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_CONNECTIONS = 48
_TIMEOUT = urllib3.Timeout(connect=5, read=30)
#: So long, in seconds, a request waits in all because the API server asks for it.
_PATIENCE = 5.0
#: A peer that is gone without a word is noticed in a minute, and what lies between does not forget an idle connection.
_SOCKET_OPTIONS = [
    *HTTPConnection.default_socket_options,
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPALIVE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]

_log = logging.getLogger(__name__)


class Transport:
    """Sends requests and returns bytes. Safe to use from any thread.

    Every method raises `ApiServerError` (temporary), `ConflictError` for HTTP 409, or `AccessDeniedError` for 401 and
    403, with the server's own message.
    """

    def __init__(self, configuration: "Configuration", user_agent: str) -> None:
        from kubernetes.client import ApiClient

        self._configuration = configuration
        if not configuration.verify_ssl:
            _log.warning("whoever answers at %s is taken for the API server: certificates are not checked", self.host)
            # Once is enough: it would come with each request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._pool = ApiClient(configuration).rest_client.pool_manager
        self._user_agent = user_agent
        self._gate: Callable[[], None] = _open
        self._patience = 0.0

    @property
    def host(self) -> str:
        """Address of the API server."""
        return str(self._configuration.host)

    def through(self, gate: Callable[[], None]) -> Self:
        """Return a way to the same API server on which *gate* is called right before each request is sent.

        The gate may wait, or raise what the caller then gets. A request that is refused for the moment, and comes with
        a time after which to try again (HTTP 429 and 503), is tried again if that is a matter of seconds.
        """
        other = copy(self)
        other._gate = gate
        other._patience = _PATIENCE
        return other

    def get(self, path: str, query: Mapping[str, str] | None = None, *, timeout: float | None = None) -> bytes:
        """Return the body of a GET; *timeout* is in seconds, here and below."""
        return self._send("GET", path, query, timeout=_in_all(timeout)).data

    def post(self, path: str, body: Any, *, timeout: float | None = None) -> bytes:
        """Create something."""
        return self._send("POST", path, body=body, timeout=_in_all(timeout)).data

    def put(self, path: str, body: Any, *, timeout: float | None = None) -> bytes:
        """Replace something."""
        return self._send("PUT", path, body=body, timeout=_in_all(timeout)).data

    def patch(self, path: str, body: Any, *, kind: str = "merge-patch") -> bytes:
        """Change something."""
        return self._send("PATCH", path, body=body, content_type=f"application/{kind}+json").data

    def delete(self, path: str, body: Any = None) -> bytes:
        """Delete something; *body* may be DeleteOptions."""
        return self._send("DELETE", path, body=body).data

    def watch(self, path: str, query: Mapping[str, str], *, read_timeout: float) -> urllib3.BaseHTTPResponse:
        """Open a watch; the caller reads the response and closes it."""
        timeout = urllib3.Timeout(connect=5, read=read_timeout)
        return self._send("GET", path, query, timeout=timeout)

    def _send(
        self, method: str, path: str, query: Mapping[str, str] | None = None, **fields: Any
    ) -> urllib3.BaseHTTPResponse:
        patience = self._patience
        while True:
            self._gate()
            try:
                return self._send_once(method, path, query, **fields)
            except ApiServerError as error:
                pause = error.retry_after
                if pause is None or pause > patience:
                    raise
                patience -= pause
                sleep(pause)

    def _send_once(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: Any = None,
        content_type: str = "application/json",
        timeout: urllib3.Timeout = _TIMEOUT,
    ) -> urllib3.BaseHTTPResponse:
        url = self._configuration.host + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "User-Agent": self._user_agent}
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = json.dumps(body).encode()
        try:
            headers |= self._credentials()
            response = self._pool.request(
                method, url, body=data, headers=headers, timeout=timeout, preload_content=False, retries=False
            )
            if response.status >= 400:
                raise _refusal(method, path, response)
            if method != "GET" or "watch" not in (query or {}):
                response.read(cache_content=True)
                response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            reason = f"{method} {path}: the API server at {self._configuration.host} did not answer: {error}"
            raise ApiServerError(reason) from error
        return response

    def _credentials(self) -> dict[str, str]:
        # auth_settings renews a token that has run out.
        token = self._configuration.auth_settings().get("BearerToken")
        return {token["key"]: token["value"]} if token and token["value"] else {}


def connect(*, kubeconfig: str = "", server: str = "", user_agent: str = "nodewright") -> Transport:
    """Return the way to the cluster of *kubeconfig*, else of the pod that we run in, else of the user's kubeconfig.

    *server* takes the place of the address found there. Raises `ConfigurationError` if there is no way.
    """
    from kubernetes import config
    from kubernetes.client import Configuration

    configuration = Configuration()
    # Each watched kind holds one, and the rest is for writes: none is thrown away after use.
    configuration.connection_pool_maxsize = _CONNECTIONS
    configuration.socket_options = _SOCKET_OPTIONS
    try:
        if kubeconfig:
            config.load_kube_config(config_file=kubeconfig, client_configuration=configuration)
        else:
            with suppress(config.ConfigException):
                config.load_incluster_config(client_configuration=configuration)
                return Transport(configuration, user_agent)
            if not server:
                config.load_kube_config(client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        message = f"no way to the API server: {error}. Name a file with kube.kubeconfig or --kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig")) from error
    if server:
        configuration.host = server.rstrip("/")
    return Transport(configuration, user_agent)


def _refusal(method: str, path: str, response: urllib3.BaseHTTPResponse) -> Exception:
    text = response.read(cache_content=True)
    response.release_conn()
    try:
        message = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        message = text[:200].decode(errors="replace")
    message = f"{method} {path}: {message or response.status}"
    match response.status:
        case 401 | 403:
            return AccessDeniedError(message, status=response.status)
        case 409:
            return ConflictError(message, status=409)
    return ApiServerError(message, status=response.status, retry_after=_retry_after(response))


def _retry_after(response: urllib3.BaseHTTPResponse) -> float | None:
    # Kubernetes writes whole seconds; the other form, a date, is for caches.
    said = response.headers.get("Retry-After", "")
    return max(1.0, float(said)) if said.isdecimal() and response.status in (429, 503) else None


def _in_all(seconds: float | None) -> urllib3.Timeout:
    return _TIMEOUT if seconds is None else urllib3.Timeout(total=seconds)


def _open() -> None:
    """The gate of those who need not wait."""
