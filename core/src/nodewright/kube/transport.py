"""Requests to the API server: the official client's configuration, TLS and credentials, without its object models."""

import json
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import urllib3

from nodewright.api.errors import (
    AccessDeniedError,
    ApiServerError,
    ConfigurationError,
    ConflictError,
    Problem,
    WithheldError,
)

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_CONNECTIONS = 48
_TIMEOUT = urllib3.Timeout(connect=5, read=30)


class Transport:
    """Sends requests and returns bytes. Safe to use from any thread.

    Every method raises `ApiServerError` (temporary), `ConflictError` for HTTP 409, or `AccessDeniedError` for 401 and
    403, with the server's own message.
    """

    def __init__(self, configuration: "Configuration", user_agent: str) -> None:
        from kubernetes.client import ApiClient

        self._configuration = configuration
        self._pool = ApiClient(configuration).rest_client.pool_manager
        self._user_agent = user_agent
        self._read_only = False

    @property
    def host(self) -> str:
        """Address of the API server."""
        return str(self._configuration.host)

    def read_only(self) -> "Transport":
        """Return a way to the same API server by which nothing is ever changed: it raises `WithheldError` instead."""
        fenced = copy(self)
        fenced._read_only = True
        return fenced

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
        timeout = urllib3.Timeout(connect=5, read=read_timeout)
        return self._send("GET", path, query, timeout=timeout)

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        *,
        body: Any = None,
        content_type: str = "application/json",
        timeout: urllib3.Timeout = _TIMEOUT,
    ) -> urllib3.BaseHTTPResponse:
        if self._read_only and method != "GET":
            raise WithheldError(f"{method} {path} was not sent: this is a dry run, which changes nothing")
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
    return ApiServerError(message, status=response.status)
