"""Requests to Google: authorised, measured, with deadlines, and repeated once where that helps and harms nothing."""

import os
from collections.abc import Callable
from datetime import timedelta
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from nodewright.api import AccessDeniedError, Clock, CloudUnavailableError, ConfigurationError, NodewrightError, Problem

from nodewright_gce.calls.cloud_config import CloudConfig, read_cloud_config
from nodewright_gce.calls.connections import Answer, Connections, LateError, LostError
from nodewright_gce.calls.errors import Call, reasons_of, refusal, shown
from nodewright_gce.calls.metrics import observe

if TYPE_CHECKING:
    from nodewright_gce.calls.credentials import MetadataCredentials, MetadataServer, Transport
    from nodewright_gce.config.gce import GceConfig

T = TypeVar("T")

#: Seconds for one request, and which share of the core's deadline. A call takes two, and a token may come before them.
_TIMEOUT = 15.0
_SHARE = 4
#: The request may have been lost on Google's side.
_DOWN = frozenset({500, 502, 503, 504})


class Session:
    """Sends requests for one configuration. Any thread may call. Nothing is loaded or read before it is needed.

    Raises `ConfigurationError` if the file of ``cloudConfig`` can't be used.
    """

    def __init__(self, settings: "GceConfig", clock: Clock, user_agent: str, deadline: timedelta) -> None:
        self.cloud_config = read_cloud_config(settings.cloud_config) if settings.cloud_config else CloudConfig()
        self._settings = settings
        self._clock = clock
        self._timeout = min(_TIMEOUT, deadline.total_seconds() / _SHARE)
        self._connections = Connections(user_agent)
        self._lock = Lock()
        self._credentials: Any = None
        self._transport: Transport | None = None
        self._metadata: MetadataServer | None = None
        self._project = settings.project or self.cloud_config.project

    @property
    def project(self) -> str:
        """The configured project, else that of the environment, of the credentials or of the machine."""
        with self._lock:
            if not self._project:
                self._project = os.environ.get("GOOGLE_CLOUD_PROJECT", "") or self._find_project()
            return self._project

    def machine_zone(self) -> str:
        """Return the zone of the machine that this runs on; raises `ConfigurationError` if it is not one of Google."""
        with self._lock:
            zone = self._from_machine("instance/zone", "zones")
        return zone.rpartition("/")[2]

    def send(self, call: Call, method: str, url: str, body: bytes | None = None, *, is_change: bool = False) -> Answer:
        """Send a request and return the answer to it.

        It is repeated once if it was lost, or Google could not answer. A change must have an id by which Google knows
        it again. What is read is not repeated after the deadline: the next loop reads it.
        """
        try:
            answer = self._once(call, method, url, body)
            if answer.status not in _DOWN:
                return self._checked(answer, call)
        except LostError as error:
            if isinstance(error, LateError) and not is_change:
                raise CloudUnavailableError(f"Google did not answer {call}: {error}") from error
        try:
            return self._checked(self._once(call, method, url, body), call)
        except LostError as error:
            raise CloudUnavailableError(f"Google did not answer {call}: {error}") from error

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()

    def _once(self, call: Call, method: str, url: str, body: bytes | None) -> Answer:
        headers = {"accept": "application/json"}
        if body is not None:
            headers["content-type"] = "application/json"
        began = perf_counter()
        status = "error"
        try:
            answer = self._authorised(call, method, url, headers, body)
            status = "success" if answer.status < 300 else next(iter(reasons_of(answer)), str(answer.status))
            return answer
        finally:
            observe(call.resource, call.verb, status, seconds=perf_counter() - began)

    def _authorised(self, call: Call, method: str, url: str, headers: dict[str, str], body: bytes | None) -> Answer:
        token = self._authorise(call, method, url, headers)
        answer = self._connections.send(method, url, headers=headers, body=body, timeout=self._timeout)
        if answer.status != 401:
            return answer
        # The token may have been revoked, or have expired on the way.
        self._authorise(call, method, url, headers, refused=token)
        return self._connections.send(method, url, headers=headers, body=body, timeout=self._timeout)

    def _authorise(self, call: Call, method: str, url: str, headers: dict[str, str], *, refused: str = "") -> str:
        """Add a token to *headers*, a new one if it is that which was *refused*; return it."""
        # One thread at a time, so that a token is asked for once.
        with self._lock:
            credentials = self._asked(self._open, str(call))
            if refused and credentials.token == refused:
                self._asked(lambda: credentials.refresh(self._transport), str(call))
            self._asked(lambda: credentials.before_request(self._transport, method, url, headers), str(call))
            return str(credentials.token)

    def _open(self) -> Any:
        if self._credentials is None:
            from nodewright_gce.calls.credentials import open_credentials

            transport, metadata = self._servers()
            credentials, project = open_credentials(self._settings, self.cloud_config, transport, metadata)
            self._credentials = credentials
            self._project = self._project or project
        return self._credentials

    def _servers(self) -> "tuple[Transport, MetadataServer]":
        if self._transport is None or self._metadata is None:
            # Takes longer to import than the rest of this plugin.
            from nodewright_gce.calls.credentials import MetadataServer, Transport

            self._transport = Transport(self._connections)
            self._metadata = MetadataServer(self._transport)
        return self._transport, self._metadata

    def _find_project(self) -> str:
        self._asked(self._open, "the project")
        return self._project or self._from_machine("project/project-id", "project")

    def _from_machine(self, path: str, setting: str) -> str:
        from google.auth.exceptions import GoogleAuthError

        _, metadata = self._servers()
        try:
            return metadata.read(path)
        except GoogleAuthError as error:
            raise ConfigurationError(
                Problem(
                    path=setting,
                    message=f"is not set, and no machine of Google tells it ({_first(error)}): set {setting} of "
                    "provider gce",
                )
            ) from error

    def _asked(self, ask: Callable[[], T], what: str) -> T:
        from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError

        try:
            return ask()
        except TransportError as error:
            if isinstance(self._credentials, _metadata_credentials()) and self._credentials.token is None:
                raise AccessDeniedError(
                    f"there are no credentials for {what}: no file is named, and the metadata server gives no token "
                    f"({_first(error)}); give the pod a service account (workload identity), or the machine, or set "
                    "credentials of provider gce or GOOGLE_APPLICATION_CREDENTIALS"
                ) from None
            raise CloudUnavailableError(f"no token could be had for {what}: {_first(error)}") from None
        except DefaultCredentialsError as error:
            raise AccessDeniedError(
                f"the credentials can't be used for {what}: {_first(error)}; correct credentials of provider gce, or "
                "GOOGLE_APPLICATION_CREDENTIALS"
            ) from None
        except GoogleAuthError as error:
            raise AccessDeniedError(
                f"no token could be had for {what}: {_first(error)}; renew the credentials, and look at the clock"
            ) from None

    def _checked(self, answer: Answer, call: Call) -> Answer:
        if answer.status >= 300:
            error: NodewrightError = refusal(answer, call, self._clock.now())
            raise error
        return answer


def _metadata_credentials() -> "type[MetadataCredentials]":
    from nodewright_gce.calls.credentials import MetadataCredentials

    return MetadataCredentials


def _first(error: Exception) -> str:
    """The first part of a message of google-auth, whose others are whole answers."""
    return shown(str(error.args[0] if error.args else type(error).__name__))[:200]
