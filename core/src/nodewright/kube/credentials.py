"""Credentials for the API server: read from a kubeconfig or the pod, renewed when they expire or are refused."""

import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from urllib3.connection import HTTPConnection

from nodewright.api.errors import AccessDeniedError, ConfigurationError, Problem

if TYPE_CHECKING:
    from kubernetes.client import Configuration

#: Seconds between two attempts to read refused credentials again.
_RENEWAL_SECONDS = 5.0
_CONNECTIONS = 48
#: A vanished peer is noticed within a minute, and no firewall in between forgets an idle connection.
_SOCKET_OPTIONS = [
    *HTTPConnection.default_socket_options,
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPALIVE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]


class Credentials:
    """The authorization header of requests. Safe to use from any thread.

    *load* reads the configuration again and runs the credential plugin that it may name.
    """

    def __init__(self, configuration: "Configuration", load: Callable[[], "Configuration"] | None = None) -> None:
        self._configuration = configuration
        self._load = load
        self._lock = Lock()
        self._renewed = 0.0
        self._header: dict[str, str] = {}
        #: Why they could not be renewed, and when that is tried again.
        self._complaint = ""
        self._retry_at = 0.0

    def headers(self) -> dict[str, str]:
        """Return the header, with a renewed token if the last expired. Raises `AccessDeniedError` if there is none."""
        with self._lock:
            # A failing plugin may be slow, so it is not run for every request.
            if monotonic() >= self._retry_at:
                self._header, self._complaint = self._renew()
                self._retry_at = monotonic() + _RENEWAL_SECONDS if self._complaint else 0.0
            if self._complaint:
                raise AccessDeniedError(f"no credentials for the API server: {self._complaint}")
            return self._header

    def _renew(self) -> tuple[dict[str, str], str]:
        """Return the header, with a new token if the old one has expired, or why there is none."""
        try:
            with client_complaints() as complaints:
                token = self._configuration.auth_settings().get("BearerToken")
        except Exception as error:
            return {}, str(error)
        return {token["key"]: token["value"]} if token and token["value"] else {}, "; ".join(complaints)

    def refused(self) -> str:
        """Read them again after the API server refused them; return why that failed, empty if it did not."""
        with self._lock:
            if self._load is None or monotonic() - self._renewed < _RENEWAL_SECONDS:
                return ""
            self._renewed = monotonic()
            try:
                fresh = self._load()
            except Exception as error:
                return str(error)
            self._configuration.api_key = fresh.api_key
            self._configuration.refresh_api_key_hook = fresh.refresh_api_key_hook
            return ""


def load_configuration(kubeconfig: str, server: str) -> "Configuration":
    """Return the client's configuration; see `connect`. Raises `ConfigurationError` if there is none."""
    from kubernetes import config
    from kubernetes.client import Configuration

    configuration = Configuration()
    # One for each watched kind and enough for writes, so that none is thrown away after use.
    configuration.connection_pool_maxsize = _CONNECTIONS
    configuration.socket_options = _SOCKET_OPTIONS
    try:
        with client_complaints() as complaints:
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
        message = f"no access to the API server: {reason.rstrip('.')}. Name a file with kube.kubeconfig or --kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig")) from error
    if complaints:
        message = f"no credentials for the API server: {'; '.join(complaints)}. Fix the user in the kubeconfig"
        raise ConfigurationError(Problem(message=message, path="kube.kubeconfig"))
    return configuration


@contextmanager
def client_complaints() -> Iterator[list[str]]:
    """Collect what the official client logs to the root logger instead of raising it, and keep it out of the log."""
    complaints: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        complaints.append(record.getMessage())
        return False

    root = logging.getLogger()
    root.addFilter(collect)
    try:
        yield complaints
    finally:
        root.removeFilter(collect)
