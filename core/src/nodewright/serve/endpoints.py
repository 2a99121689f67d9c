"""The endpoints: the response to each HTTP request, independent of the server."""

import gzip
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import parse_qs

from nodewright.serve import profiler
from nodewright.serve.metrics import Metrics
from nodewright.serve.snapshots import BusyError, Snapshots

#: Seconds that a client waits for the end of a loop.
_PATIENCE = 120.0
_PROFILE_SECONDS, _MOST_PROFILE_SECONDS = 30.0, 120.0
#: Shorter bodies are not worth compressing.
_LARGE = 1400
_PLAIN = "text/plain; charset=utf-8"
_BINARY = "application/octet-stream"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A GET or HEAD request."""

    path: str
    query: str = ""
    accept: str = ""
    accept_encoding: str = ""
    #: Whether the client has hung up.
    gone: Callable[[], bool] = lambda: False

    def argument(self, name: str) -> str:
        """Return the last value of a query parameter, empty if there is none."""
        return parse_qs(self.query).get(name, [""])[-1]


@dataclass(frozen=True, kw_only=True)
class Response:
    """The response to a request."""

    body: bytes
    status: int = 200
    content_type: str = _PLAIN
    headers: Mapping[str, str] = field(default_factory=dict)

    def compressed_for(self, request: Request) -> "Response":
        """Return the response compressed, if the client accepts gzip and the body is large."""
        if len(self.body) < _LARGE or not _takes_gzip(request.accept_encoding):
            return self
        headers = {**self.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        # The fastest level, as CPU time is scarcer than bandwidth on a busy node.
        body = gzip.compress(self.body, compresslevel=1, mtime=0)
        return Response(body=body, status=self.status, content_type=self.content_type, headers=headers)


class Endpoints:
    """All endpoints. Safe to use from any thread; nothing raises.

    *trouble* returns what is wrong with the process, *obstacle* why it runs no loops; empty if nothing is. Snapshots
    and profiles exist only if *snapshots* or *profiling* are given.
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        trouble: Callable[[], str] = lambda: "",
        obstacle: Callable[[], str] = lambda: "",
        snapshots: Snapshots | None = None,
        profiling: bool = False,
    ) -> None:
        self._metrics = metrics
        self._trouble = trouble
        self._obstacle = obstacle
        self._snapshots = snapshots
        self._profiling = Lock()
        self._pages: dict[str, Callable[[Request], Response]] = {
            "/metrics": self._show_metrics,
            "/health-check": self._show_health,
        }
        if snapshots is not None:
            self._pages["/snapshotz"] = self._show_snapshot
        if profiling:
            self._pages |= {
                "/debug/pprof/profile": self._show_profile,
                "/debug/pprof/goroutine": self._show_threads,
                "/debug/pprof/heap": self._show_heap,
            }

    def respond(self, request: Request) -> Response:
        """Return the response to *request*."""
        page = self._pages.get(request.path, self._show_directory)
        try:
            return page(request).compressed_for(request)
        except Exception:
            _log.exception("the response to %s failed", request.path)
            return _text("the request failed; the log says why", 500)

    def _show_metrics(self, request: Request) -> Response:
        body, content_type = self._metrics.exposition(request.accept)
        return Response(body=body, content_type=content_type)

    def _show_health(self, request: Request) -> Response:
        trouble = self._trouble()
        return _text(f"Error: {trouble}", 500) if trouble else _text("OK")

    def _show_snapshot(self, request: Request) -> Response:
        assert self._snapshots is not None
        if obstacle := self._obstacle():
            return _text(f"no snapshot can be taken, as no loop runs here: {obstacle}", 503)
        try:
            taken = self._snapshots.wait(_PATIENCE, request.gone)
        except BusyError:
            return _text("another client is waiting for a snapshot; only one is taken at a time", 429)
        if taken is None:
            return _text(f"no loop has ended within {_PATIENCE:g} s", 503)
        return Response(body=taken, content_type="application/json")

    def _show_profile(self, request: Request) -> Response:
        try:
            seconds = float(request.argument("seconds") or _PROFILE_SECONDS)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MOST_PROFILE_SECONDS:
            return _text(f"use seconds=N with a number above 0 and up to {_MOST_PROFILE_SECONDS:g}", 400)
        if not self._profiling.acquire(blocking=False):
            return _text("another profile is being taken; only one is taken at a time", 429)
        try:
            samples = profiler.sample(seconds)
        finally:
            self._profiling.release()
        if request.argument("debug"):
            return _text(profiler.collapsed(samples))
        return Response(body=profiler.profile(samples, seconds), content_type=_BINARY)

    def _show_threads(self, request: Request) -> Response:
        if request.argument("debug"):
            return _text(profiler.thread_dump())
        return Response(body=profiler.threads(), content_type=_BINARY)

    def _show_heap(self, request: Request) -> Response:
        taken = profiler.heap()
        if taken is None:
            return _text("Python does not trace allocations: start the process with PYTHONTRACEMALLOC=1", 501)
        return Response(body=taken, content_type=_BINARY)

    def _show_directory(self, request: Request) -> Response:
        return _text(f"not found; the endpoints are {', '.join(self._pages)}", 404)


def _text(text: str, status: int = 200) -> Response:
    return Response(body=text.encode(), status=status)


def _takes_gzip(accept_encoding: str) -> bool:
    for part in accept_encoding.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0")
    return False
