"""Requests to the API server: the official client's configuration, TLS and credentials, without its object models."""

import json
import logging
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import urllib3
from urllib3.connection import HTTPConnection

from nodewright.api.errors import AccessDeniedError, ApiServerError, ConfigurationError, ConflictError, Problem

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_CONNECTIONS = 48
#: In seconds: for a connection, and between two signs of life.
_CONNECT_SECONDS = 5.0
_PATIENCE = 30.0

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
    """Sends requests and returns bytes; gives up after *patience* seconds in silence. Safe to use from any thread.

    Every method raises `ApiServerError` (temporary), `ConflictError` for HTTP 409, or `AccessDeniedError` for 401 and
    403, with the server's own message.
    """

    def __init__(self, configuration: "Configuration", user_agent: str, patience: float | None = None) -> None:
        from kubernetes.client import ApiClient

        self._configuration = configuration
        if not configuration.verify_ssl:
            _log.warning("whoever answers at %s is taken for the API server: certificates are not checked", self.host)
            # Once is enough: it would come with each request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._pool = ApiClient(configuration).rest_client.pool_manager
        self._user_agent = user_agent
        self._closed = False
        self._timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=_PATIENCE if patience is None else patience)

    @property
    def host(self) -> str:
        """Address of the API server."""
        return str(self._configuration.host)

    def get(self, path: str, query: Mapping[str, str] | None = None) -> bytes:
        """Return the body of a GET."""
        return self._send("GET", path, query).data

    def post(self, path: str, body: Any) -> bytes:
        """Create something."""
        return self._send("POST", path, body=body).data

    def patch(self, path: str, body: Any, *, kind: str = "merge-patch") -> bytes:
        """Change something."""
        return self._send("PATCH", path, body=body, content_type=f"application/{kind}+json").data

    def watch(self, path: str, query: Mapping[str, str], *, read_timeout: float) -> urllib3.BaseHTTPResponse:
        """Open a watch; the caller reads the response and closes it."""
        timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=read_timeout)
        return self._send("GET", path, query, timeout=timeout)

    def close(self) -> None:
        """Let nothing pass any more: each request fails from now on. What is under way goes on."""
        self._closed = True

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Any = None,
        content_type: str = "application/json",
        timeout: urllib3.Timeout | None = None,
    ) -> urllib3.BaseHTTPResponse:
        if self._closed:
            raise ApiServerError(f"{method} {path}: not sent, as we are about to end")
        url = self._configuration.host + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "User-Agent": self._user_agent}
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = json.dumps(body).encode()
        try:
            headers |= self._credentials()
            response = self._pool.request(
                method,
                url,
                body=data,
                headers=headers,
                timeout=timeout or self._timeout,
                preload_content=False,
                retries=False,
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


def connect(
    *, kubeconfig: str = "", server: str = "", user_agent: str = "nodewright", patience: float | None = None
) -> Transport:
    """Return the way to the cluster of *kubeconfig*, else of the pod that we run in, else of the user's kubeconfig.

    *server* takes the place of the address found there, *patience* is that of `Transport`. Raises `ConfigurationError`
    if there is no way.
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
                return Transport(configuration, user_agent, patience)
            if not server:
                config.load_kube_config(client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        message = f"no way to the API server: {error}. Name a file with kube.kubeconfig or --kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig")) from error
    if server:
        configuration.host = server.rstrip("/")
    return Transport(configuration, user_agent, patience)


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
    return ApiServerError(
        message, status=response.status, retry_after=_seconds(response.headers.get("Retry-After", ""))
    )


def _seconds(text: str) -> float | None:
    """Return how long the server asks to wait; it may also name a date, which API servers don't."""
    return float(text) if text.isascii() and text.isdigit() else None
