"""Credentials: what we prove with who we are, renewed when it runs out or is not accepted any more."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING

from nodewright.api.errors import AccessDeniedError

if TYPE_CHECKING:
    from kubernetes.client import Configuration

#: Those that were refused are read anew, but not more often than that, in seconds.
_RENEWAL_SECONDS = 5.0


class Credentials:
    """The header that goes with each request. Safe to use from any thread.

    *load* reads the configuration of the cluster again, and runs the plugin that it may name.
    """

    def __init__(self, configuration: "Configuration", load: Callable[[], "Configuration"] | None = None) -> None:
        self._configuration = configuration
        self._load = load
        self._lock = Lock()
        self._renewed = 0.0
        self._header: dict[str, str] = {}
        #: Why they could not be renewed, and until when that is not tried again.
        self._complaint = ""
        self._rests_until = 0.0

    def headers(self) -> dict[str, str]:
        """Return them; a token that has run out is renewed. Raises `AccessDeniedError` if there are none to be had."""
        with self._lock:
            # A plugin that fails may take its time, and is asked for with each request.
            if monotonic() >= self._rests_until:
                self._header, self._complaint = self._renew()
                self._rests_until = monotonic() + _RENEWAL_SECONDS if self._complaint else 0.0
            if self._complaint:
                raise AccessDeniedError(f"no credentials for the API server: {self._complaint}")
            return self._header

    def _renew(self) -> tuple[dict[str, str], str]:
        """Return the header, with a new token if the old one has run out; or why there is none."""
        try:
            with overheard() as complaints:
                token = self._configuration.auth_settings().get("BearerToken")
        except Exception as error:
            return {}, str(error)
        return {token["key"]: token["value"]} if token and token["value"] else {}, "; ".join(complaints)

    def refused(self) -> str:
        """Read them anew, as the API server did not accept them; return why that failed, if it did."""
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


@contextmanager
def overheard() -> Iterator[list[str]]:
    """Hear what the official client complains of instead of raising it: it goes to the root logger, and no further."""
    complaints: list[str] = []

    def hear(record: logging.LogRecord) -> bool:
        complaints.append(record.getMessage())
        return False

    root = logging.getLogger()
    root.addFilter(hear)
    try:
        yield complaints
    finally:
        root.removeFilter(hear)
