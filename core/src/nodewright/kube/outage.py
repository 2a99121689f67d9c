"""Outages: whether the API server answers at all, told when that changes and not with each request."""

import logging
from threading import Lock
from time import monotonic

#: A restart behind a load balancer, or a lost packet, is no outage: so long, in seconds, nothing may be answered.
_QUIET_SECONDS = 3.0
#: So long, in seconds, an API server counts as just back.
_BACK_SECONDS = 10.0

_log = logging.getLogger(__name__)


class Outage:
    """Told how each request went. Safe to use from any thread."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._lock = Lock()
        #: When the first of the requests was made of which none was answered since; None if all is well.
        self._since: float | None = None
        self._told = False
        #: When it was last over.
        self._ended = float("-inf")

    @property
    def just_over(self) -> bool:
        """Whether the API server has answered for a few seconds only since it last did not."""
        return monotonic() - self._ended < _BACK_SECONDS

    @property
    def lasting(self) -> bool:
        """Whether it was told that there is one."""
        return self._told

    def failed(self, why: str) -> None:
        """Note that a request was not answered, or with an error that is the API server's own."""
        now = monotonic()
        with self._lock:
            if self._since is None:
                self._since = now
            begins = not self._told and now - self._since >= _QUIET_SECONDS
            self._told = self._told or begins
        if begins:
            _log.warning("%s; what has to do with it waits until it answers again", why)

    def answered(self) -> None:
        """Note that a request was answered."""
        if self._since is None:
            return
        with self._lock:
            since, told = self._since, self._told
            self._since, self._told, self._ended = None, False, monotonic()
        if told and since is not None:
            _log.warning("the API server at %s answers again, after %.0f s", self._host, monotonic() - since)
