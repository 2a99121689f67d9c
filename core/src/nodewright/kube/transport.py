"""Requests to the API server."""

import json
import logging
from collections.abc import Callable, Mapping
from copy import copy
from threading import Condition, Event
from time import monotonic, sleep
from typing import Any, Self
from urllib.parse import urlencode

import urllib3

from nodewright.api.errors import AccessDeniedError, ApiServerError, WithheldError
from nodewright.kube.connections import Connections
from nodewright.kube.credentials import Credentials
from nodewright.kube.kubeconfig import Access, find_access
from nodewright.kube.request_errors import no_answer_text, refusal_error, unready_error
from nodewright.kube.rights import Rights, right_to

#: Seconds: to connect, between two reads, and for all retries that the API server asks for.
_CONNECT_SECONDS = 5.0
_SILENCE_SECONDS = 30.0
_RETRY_SECONDS = 5.0
_LEAST_PAUSE_SECONDS = 1.0
#: Seconds without an answer before it is an outage: a restart behind a load balancer or a lost packet is none.
_QUIET_SECONDS = 3.0
#: Seconds for which an API server counts as just back.
_BACK_SECONDS = 10.0
#: Seconds between the requests of all who wait for the end of an outage together.
_PROBE_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Outage:
    """Whether the API server answers; logs when an outage begins and ends. Safe to use from any thread."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._changed = Condition()
        #: When the first request of a row without an answer failed; None if the last one was answered.
        self._since: float | None = None
        self._logged = False
        #: When the last one ended.
        self._ended = float("-inf")
        #: How many have ended that were logged.
        self.over = 0
        #: When one of those who wait may ask whether it is over.
        self._next_probe = 0.0

    @property
    def just_over(self) -> bool:
        """Whether an outage ended only a few seconds ago."""
        return monotonic() - self._ended < _BACK_SECONDS

    @property
    def lasting(self) -> bool:
        """Whether there is an outage, and it has been logged."""
        return self._logged

    def failed(self, why: str) -> None:
        """Note that a request got no answer, or an error that is the API server's own."""
        now = monotonic()
        with self._changed:
            if self._since is None:
                self._since = now
            begins = not self._logged and now - self._since >= _QUIET_SECONDS
            self._logged = self._logged or begins
            if begins:
                self._changed.notify_all()
        if begins:
            _log.warning("%s; everything that needs it waits until it answers again", why)

    def answered(self) -> None:
        """Note that a request was answered."""
        if self._since is None:
            return
        with self._changed:
            since, logged = self._since, self._logged
            self._since, self._logged, self._ended = None, False, monotonic()
            if logged:
                self.over += 1
                self._changed.notify_all()
        if logged and since is not None:
            _log.warning("the API server at %s answers again, after %.0f s", self._host, monotonic() - since)

    def wait(self, seconds: float, stop: Event, over: int) -> bool:
        """Wait before a failed request is tried again; return whether an outage ended since *over* were over.

        That ends the wait early, as does *stop*, if `notify` is called after it. While an outage lasts, those who wait
        take turns to ask, so that its end is found soon and by few requests.
        """
        until = monotonic() + seconds
        with self._changed:
            while not stop.is_set() and self.over == over:
                now = monotonic()
                due = min(until, self._next_probe) if self._logged else until
                if due <= now:
                    self._next_probe = now + _PROBE_SECONDS
                    break
                self._changed.wait(due - now)
            return self.over != over

    def notify(self) -> None:
        """Have all who wait look whether they have to stop."""
        with self._changed:
            self._changed.notify_all()


class Transport:
    """Sends requests and returns bytes; gives up after *patience* seconds of silence. Safe to use from any thread.

    Every method raises `ApiServerError` (temporary), `ConflictError` for HTTP 409, or `AccessDeniedError` for 401 and
    403, with the server's own message; a 403 from an API server that has just come back is temporary, too. *reload*
    reads the configuration again after credentials were refused. Outages and missing rights are logged here, once.
    """

    def __init__(
        self,
        access: Access,
        user_agent: str,
        patience: float | None = None,
        reload: Callable[[], Access] | None = None,
    ) -> None:
        self._host = access.server.url
        if not access.server.verified:
            _log.warning("certificates are not checked: any server at %s is taken for the API server", self.host)
            # One warning is enough; urllib3 would repeat it with each request.
            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
        self._user_agent = user_agent
        self._read_only = False
        self._gate: Callable[[], None] = _open
        #: Seconds for which temporary refusals are tried again.
        self._retry_budget = 0.0
        self._closed = Event()
        self._credentials = Credentials(access, reload)
        self._connections = Connections(access.server, self._credentials.proof())
        self._rights = Rights()
        self._outage = Outage(self.host)
        silence = _SILENCE_SECONDS if patience is None else patience
        self._timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=silence)

    @property
    def host(self) -> str:
        """The address of the API server."""
        return self._host

    @property
    def rights(self) -> Rights:
        """The missing rights."""
        return self._rights

    @property
    def outage(self) -> Outage:
        """Whether the API server answers."""
        return self._outage

    def read_only(self) -> Self:
        """Return a transport to the same API server that only reads: a write raises `WithheldError`."""
        other = copy(self)
        other._read_only = True
        return other

    def through(self, gate: Callable[[], None]) -> Self:
        """Return a transport to the same API server that calls *gate* right before it sends each request.

        The gate may wait, or raise an error for the caller. A request that is refused with a time to retry after
        (HTTP 429 and 503) is tried again if that takes a few seconds at most.
        """
        other = copy(self)
        other._gate = gate
        other._retry_budget = _RETRY_SECONDS
        return other

    def get(self, path: str, query: Mapping[str, str] | None = None, *, timeout: float | None = None) -> bytes:
        """Return the body of a GET; *timeout* is in seconds, here and below."""
        return self._send("GET", path, query, timeout=_total_timeout(timeout)).data

    def post(self, path: str, body: Any, *, timeout: float | None = None) -> bytes:
        """Create an object."""
        return self._send("POST", path, body=body, timeout=_total_timeout(timeout)).data

    def put(self, path: str, body: Any, *, timeout: float | None = None) -> bytes:
        """Replace an object."""
        return self._send("PUT", path, body=body, timeout=_total_timeout(timeout)).data

    def patch(self, path: str, body: Any, *, kind: str = "merge-patch") -> bytes:
        """Change an object."""
        return self._send("PATCH", path, body=body, content_type=f"application/{kind}+json").data

    def delete(self, path: str, body: Any = None) -> bytes:
        """Delete an object; *body* may be DeleteOptions."""
        return self._send("DELETE", path, body=body).data

    def watch(self, path: str, query: Mapping[str, str], *, read_timeout: float) -> urllib3.BaseHTTPResponse:
        """Open a watch; the caller reads the response and closes it."""
        timeout = urllib3.Timeout(connect=_CONNECT_SECONDS, read=read_timeout)
        return self._send("GET", path, query, timeout=timeout)

    def close(self) -> None:
        """Make each further request fail. Requests in progress go on."""
        self._closed.set()

    def _send(
        self, method: str, path: str, query: Mapping[str, str] | None = None, **fields: Any
    ) -> urllib3.BaseHTTPResponse:
        budget = self._retry_budget
        while True:
            self._gate()
            try:
                return self._send_once(method, path, query, **fields)
            except ApiServerError as error:
                if error.retry_after is None:
                    raise
                pause = max(_LEAST_PAUSE_SECONDS, error.retry_after)
                if pause > budget:
                    raise
                budget -= pause
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
            raise ApiServerError(f"{method} {path}: not sent, as the process is about to end")
        if self._read_only and method != "GET":
            raise WithheldError(f"{method} {path} was not sent: this is a dry run, which changes nothing")
        right = right_to(method, path, query)
        url = self._host + path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "User-Agent": self._user_agent}
        data = None
        if body is not None:
            headers["Content-Type"] = content_type
            data = json.dumps(body).encode()
        try:
            proof = self._credentials.proof()
            if proof.authorization:
                headers["Authorization"] = proof.authorization
            response = self._connections.pool(proof).request(
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
                raise refusal_error(self.host, right, path, response, body)
            if method != "GET" or "watch" not in (query or {}):
                response.read(cache_content=True)
                response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            why = no_answer_text(self.host, error)
            self._outage.failed(why)
            raise ApiServerError(why) from error
        except (AccessDeniedError, ApiServerError) as error:
            raise self._after_refusal(error) from error.__cause__
        self._outage.answered()
        self._rights.allowed(right)
        return response

    def _after_refusal(self, error: AccessDeniedError | ApiServerError) -> Exception:
        """Draw the consequences of a refusal; return the error to raise."""
        if isinstance(error, AccessDeniedError) and error.right is None and error.status != 403:
            trouble = self._credentials.refused() if error.status else ""
            error = AccessDeniedError(f"{error} ({trouble})", status=error.status) if trouble else error
            self._outage.failed(str(error))
        elif error.status >= 500:
            self._outage.failed(f"the API server at {self.host} has an error: {error}")
        else:
            self._outage.answered()
        if not isinstance(error, AccessDeniedError) or error.right is None:
            return error
        believed = self._rights.refused(error, just_back=self._outage.just_over)
        return error if believed else unready_error(self.host, error.right, _LEAST_PAUSE_SECONDS)


def connect(
    *, kubeconfig: str = "", server: str = "", user_agent: str = "nodewright", patience: float | None = None
) -> Transport:
    """Return a transport by *kubeconfig*, else by the service account of this pod, else by the user's kubeconfig.

    *server* replaces the address found there; *patience* is that of `Transport`. Raises `ConfigurationError` if none of
    these can be used.
    """

    def load() -> Access:
        return find_access(kubeconfig, server)

    return Transport(load(), user_agent, patience, reload=load)


def _total_timeout(seconds: float | None) -> urllib3.Timeout | None:
    return None if seconds is None else urllib3.Timeout(total=seconds)


def _open() -> None:
    """The gate that lets every request pass at once."""
