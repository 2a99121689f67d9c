"""The site: what is answered to which request, whoever carries both."""

import gzip
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from urllib.parse import parse_qs

from nodewright.serve import profiler
from nodewright.serve.metrics import Metrics
from nodewright.serve.snapshots import BusyError, Snapshots

#: So long, in seconds, a client waits for the end of a loop; a standby has none.
_PATIENCE = 120.0
_PROFILE_SECONDS, _MOST_PROFILE_SECONDS = 30.0, 120.0
#: Less is not worth compressing.
_LARGE = 1400
_PLAIN = "text/plain; charset=utf-8"
_BINARY = "application/octet-stream"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request to read something."""

    path: str
    query: str = ""
    accept: str = ""
    accept_encoding: str = ""
    #: Whether nobody waits for the answer any more.
    gone: Callable[[], bool] = lambda: False

    def argument(self, name: str) -> str:
        """Return the last value of an argument in the query, empty if there is none."""
        return parse_qs(self.query).get(name, [""])[-1]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What is sent back."""

    body: bytes
    status: int = 200
    content_type: str = _PLAIN
    headers: Mapping[str, str] = field(default_factory=dict)

    def compressed_for(self, request: Request) -> "Answer":
        """Return the answer compressed, if the client likes that and it is worth it."""
        if len(self.body) < _LARGE or not _takes_gzip(request.accept_encoding):
            return self
        headers = {**self.headers, "Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        # Fast: on a busy node, time is dearer than bytes.
        body = gzip.compress(self.body, compresslevel=1, mtime=0)
        return Answer(body=body, status=self.status, content_type=self.content_type, headers=headers)


class Site:
    """Everything that is served. Safe to use from any thread; nothing raises.

    *trouble* says what is wrong with the process, empty if nothing is. Snapshots and profiles are served only to those
    who asked for that: pass *snapshots*, or *profiling*.
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        trouble: Callable[[], str] = lambda: "",
        snapshots: Snapshots | None = None,
        profiling: bool = False,
    ) -> None:
        self._metrics = metrics
        self._trouble = trouble
        self._snapshots = snapshots
        self._profiling = Lock()
        self._pages: dict[str, Callable[[Request], Answer]] = {
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

    def answer(self, request: Request) -> Answer:
        """Return the answer to *request*."""
        page = self._pages.get(request.path, self._show_directory)
        try:
            return page(request).compressed_for(request)
        except Exception:
            _log.exception("%s could not be answered", request.path)
            return _text("this could not be answered; the log says why", 500)

    def _show_metrics(self, request: Request) -> Answer:
        body, content_type = self._metrics.exposition(request.accept)
        return Answer(body=body, content_type=content_type)

    def _show_health(self, request: Request) -> Answer:
        trouble = self._trouble()
        return _text(f"Error: {trouble}", 500) if trouble else _text("OK")

    def _show_snapshot(self, request: Request) -> Answer:
        assert self._snapshots is not None
        try:
            taken = self._snapshots.wait(_PATIENCE, request.gone)
        except BusyError:
            return _text("somebody else waits for a snapshot; one at a time is taken", 429)
        if taken is None:
            return _text(f"no loop has ended within {_PATIENCE:g} s; a replica that does not lead has none", 503)
        return Answer(body=taken, content_type="application/json")

    def _show_profile(self, request: Request) -> Answer:
        try:
            seconds = float(request.argument("seconds") or _PROFILE_SECONDS)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MOST_PROFILE_SECONDS:
            return _text(f"write seconds=N, more than 0 and no more than {_MOST_PROFILE_SECONDS:g}", 400)
        if not self._profiling.acquire(blocking=False):
            return _text("a profile is being taken; one at a time is", 429)
        try:
            samples = profiler.sample(seconds)
        finally:
            self._profiling.release()
        if request.argument("debug"):
            return _text(profiler.collapsed(samples))
        return Answer(body=profiler.profile(samples, seconds), content_type=_BINARY)

    def _show_threads(self, request: Request) -> Answer:
        if request.argument("debug"):
            return _text(profiler.thread_dump())
        return Answer(body=profiler.threads(), content_type=_BINARY)

    def _show_heap(self, request: Request) -> Answer:
        taken = profiler.heap()
        if taken is None:
            return _text("Python does not note who takes memory: start the process with PYTHONTRACEMALLOC=1", 501)
        return Answer(body=taken, content_type=_BINARY)

    def _show_directory(self, request: Request) -> Answer:
        return _text(f"there is {', '.join(self._pages)}", 404)


def _text(text: str, status: int = 200) -> Answer:
    return Answer(body=text.encode(), status=status)


def _takes_gzip(accept_encoding: str) -> bool:
    for part in accept_encoding.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() in ("gzip", "*"):
            return weight.replace(" ", "") not in ("q=0", "q=0.0")
    return False
