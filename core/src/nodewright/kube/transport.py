"""Requests to the API server: the official client's configuration, TLS and credentials, without its object models."""

import json
import logging
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from threading import Event
from time import sleep
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlencode

import urllib3
from urllib3.connection import HTTPConnection

from nodewright.api.errors import AccessDeniedError, ApiServerError, ConfigurationError, Problem, WithheldError
from nodewright.kube.credentials import Credentials, overheard
from nodewright.kube.outage import Outage
from nodewright.kube.rights import Rights, right_to
from nodewright.kube.wording import no_answer, not_yet, refusal

if TYPE_CHECKING:
    from kubernetes.client import Configuration

_CONNECTIONS = 48
#: In seconds: for a connection, between two signs of life, and in all where the API server asks to come again later.
_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 30.0
_RETRY_SECONDS = 5.0
_LEAST_PAUSE_SECONDS = 1.0
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
    403, with the server's own message; a 403 of an API server that has just come back is temporary, too. Credentials
    that are not accepted are read anew by *reload*. That the server does not answer, and that a right is missing, is
    logged here, once.
    """

    def __init__(
        self,
        configuration: "Configuration",
        user_agent: str,
        patience: float | None = None,
        reload: Callable[[], "Configuration"] | None = None,
    ) -> None:
        from kubernetes.client import ApiClient

        self._configuration = configuration
        if not configuration.verify_ssl:
            _log.warning("whoever answers at %s is taken for the API server: certificates are not checked", self.host)
            # Once is enough: it would come with each request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._pool = ApiClient(configuration).rest_client.pool_manager
        self._user_agent = user_agent
        self._read_only = False
        self._gate: Callable[[], None] = _open
        #: For how long, in seconds, it is tried again what the API server refuses for the moment.
        self._persistence = 0.0
        self._closed = Event()
        self._credentials = Credentials(configuration, reload)
        self._rights = Rights()
        self._outage = Outage(self.host)
        silence = _SILENCE_SECONDS if patience is None else patience
        self._timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=silence)

    @property
    def host(self) -> str:
        """Address of the API server."""
        return str(self._configuration.host)

    @property
    def rights(self) -> Rights:
        """Which rights are missing."""
        return self._rights

    @property
    def outage(self) -> Outage:
        """Whether the API server answers."""
        return self._outage

    def read_only(self) -> Self:
        """Return a way to the same API server by which nothing is ever changed: it raises `WithheldError` instead."""
        fenced = copy(self)
        fenced._read_only = True
        return fenced

    def through(self, gate: Callable[[], None]) -> Self:
        """Return a way to the same API server on which *gate* is called right before each request is sent.

        The gate may wait, or raise what the caller then gets. A request that is refused for the moment, and comes with
        a time after which to try again (HTTP 429 and 503), is tried again if that is a matter of seconds.
        """
        other = copy(self)
        other._gate = gate
        other._persistence = _RETRY_SECONDS
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
        timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=read_timeout)
        return self._send("GET", path, query, timeout=timeout)

    def close(self) -> None:
        """Let nothing pass any more: each request fails from now on. What is under way goes on."""
        self._closed.set()

    def _send(
        self, method: str, path: str, query: Mapping[str, str] | None = None, **fields: Any
    ) -> urllib3.BaseHTTPResponse:
        persistence = self._persistence
        while True:
            self._gate()
            try:
                return self._send_once(method, path, query, **fields)
            except ApiServerError as error:
                if error.retry_after is None:
                    raise
                pause = max(_LEAST_PAUSE_SECONDS, error.retry_after)
                if pause > persistence:
                    raise
                persistence -= pause
                sleep(pause)

    def _send_once(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: Any = None,
        content_type: str = "application/json",
        timeout: urllib3.Timeout | None = None,
    ) -> urllib3.BaseHTTPResponse:
        if self._closed.is_set():
            raise ApiServerError(f"{method} {path}: not sent, as we are about to end")
        if self._read_only and method != "GET":
            raise WithheldError(f"{method} {path} was not sent: this is a dry run, which changes nothing")
        right = right_to(method, path, query)
        url = self._configuration.host + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "User-Agent": self._user_agent}
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = json.dumps(body).encode()
        try:
            headers |= self._credentials.headers()
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
                body = response.read(cache_content=True)
                response.release_conn()
                raise refusal(self.host, right, path, response, body)
            if method != "GET" or "watch" not in (query or {}):
                response.read(cache_content=True)
                response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            why = no_answer(self.host, error)
            self._outage.failed(why)
            raise ApiServerError(why) from error
        except (AccessDeniedError, ApiServerError) as error:
            raise self._heed(error) from error.__cause__
        self._outage.answered()
        self._rights.allowed(right)
        return response

    def _heed(self, error: AccessDeniedError | ApiServerError) -> Exception:
        """Note what follows from an answer that refuses; return the error to raise."""
        if isinstance(error, AccessDeniedError) and error.right is None and error.status != 403:
            trouble = self._credentials.refused() if error.status else ""
            error = AccessDeniedError(f"{error} ({trouble})", status=error.status) if trouble else error
            self._outage.failed(str(error))
        elif error.status >= 500:
            self._outage.failed(f"the API server at {self.host} is not well: {error}")
        else:
            self._outage.answered()
        if not isinstance(error, AccessDeniedError) or error.right is None:
            return error
        told = self._rights.refused(error, just_back=self._outage.just_over)
        return error if told else not_yet(self.host, error.right, _LEAST_PAUSE_SECONDS)


def connect(
    *, kubeconfig: str = "", server: str = "", user_agent: str = "nodewright", patience: float | None = None
) -> Transport:
    """Return the way to the cluster of *kubeconfig*, else of the pod that we run in, else of the user's kubeconfig.

    *server* takes the place of the address found there, *patience* is that of `Transport`. Raises `ConfigurationError`
    if there is no way.
    """

    def load() -> "Configuration":
        configuration = _configuration(kubeconfig, server)
        if server:
            configuration.host = server.rstrip("/")
        return configuration

    return Transport(load(), user_agent, patience, reload=load)


def _configuration(kubeconfig: str, server: str) -> "Configuration":
    from kubernetes import config
    from kubernetes.client import Configuration

    configuration = Configuration()
    # Each watched kind holds one, and the rest is for writes: none is thrown away after use.
    configuration.connection_pool_maxsize = _CONNECTIONS
    configuration.socket_options = _SOCKET_OPTIONS
    try:
        with overheard() as complaints:
            if kubeconfig:
                config.load_kube_config(config_file=kubeconfig, client_configuration=configuration)
            else:
                with suppress(config.ConfigException):
                    config.load_incluster_config(client_configuration=configuration)
                    return configuration
                if not server:
                    config.load_kube_config(client_configuration=configuration)
    except (config.ConfigException, OSError) as error:
        reason = f"{kubeconfig}: {error}" if kubeconfig and kubeconfig not in str(error) else str(error)
        message = f"no way to the API server: {reason.rstrip('.')}. Name a file with kube.kubeconfig or --kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig")) from error
    if complaints:
        message = (
            f"no credentials for the API server: {'; '.join(complaints)}. Mend what the kubeconfig says of its user"
        )
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig"))
    return configuration


def _in_all(seconds: float | None) -> urllib3.Timeout | None:
    return None if seconds is None else urllib3.Timeout(total=seconds)


def _open() -> None:
    """The gate of those who need not wait."""
