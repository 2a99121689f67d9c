"""Reflectors: keep up with one kind of object by list and watch."""

import logging
import random
from collections.abc import Iterator
from contextlib import suppress
from threading import Event, Thread

import msgspec
import urllib3

from nodewright.api.errors import AccessDeniedError, ApiServerError
from nodewright.kube.feed import Batch, Feed
from nodewright.kube.kinds import Kind
from nodewright.kube.transport import Transport

_PAGE = 500
_WATCH_SECONDS = 290
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0
#: HTTP: the version to watch from is too old, or the server, put back to an earlier state, has not come to it yet.
_LOST_VERSION = (410, 504)

_log = logging.getLogger(__name__)


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[msgspec.Raw] = []


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Name(msgspec.Struct, rename="camel", frozen=True):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Identity(msgspec.Struct):
    """What can be read even of an object that is malformed otherwise."""

    metadata: _Name = _Name()
    code: int = 0
    message: str = ""

    @property
    def key(self) -> str:
        name = self.metadata
        return f"{name.namespace}/{name.name}" if name.namespace else name.name


_PAGES = msgspec.json.Decoder(_Page)


class _ExpiredError(Exception):
    """The version to watch from is too old: list again."""


class Reflector:
    """Lists and watches one kind on a thread of its own and hands what it sees to a feed.

    A lost connection or a restart of the API server is followed by a new watch, after a pause that grows with each
    failure; where the version has expired (HTTP 410, or in the stream), or the server was put back to an earlier state,
    by a new list. A malformed object is logged and left out. While the API server does not let us list an optional kind
    at all, we do without it and look again every now and then.
    """

    def __init__(self, kind: Kind, transport: Transport, feed: Feed) -> None:
        self._kind = kind
        self._transport = transport
        self._feed = feed
        self._read = kind.reader()
        self._identify = msgspec.json.Decoder(_Identity).decode
        self._listed = False
        self._absent = False
        self._stop = Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._thread = Thread(target=self._run, name=f"reflector-{kind.name}", daemon=True)

    def start(self) -> None:
        """Begin to list and watch."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stop.set()
        response = self._response
        if response is not None:
            with suppress(Exception):
                response.shutdown()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        pause = _FIRST_PAUSE
        version = ""
        while not self._stop.is_set():
            try:
                version = version or self._list()
                version = self._watch(version)
                pause = _FIRST_PAUSE
            except _ExpiredError:
                version = ""
            except Exception as error:
                # Whatever comes instead of an answer, the thread goes on: nobody else keeps the cluster up to date.
                if self._stop.is_set():
                    return
                if isinstance(error, msgspec.MsgspecError) or getattr(error, "status", 0) in _LOST_VERSION:
                    version = ""
                if self._can_do_without(error):
                    self._do_without(error)
                    continue
                self._feed.note_trouble(self._kind.name, str(error))
                _log.warning("cannot watch %s: %s", self._kind.name, error)
                self._stop.wait(pause * random.uniform(0.5, 1.5))
                pause = min(pause * 2, _LONGEST_PAUSE)

    def _can_do_without(self, error: Exception) -> bool:
        refused = isinstance(error, AccessDeniedError | ApiServerError) and error.status in (403, 404)
        # What was seen once is not forgotten because it can't be seen for a while.
        return refused and self._kind.optional and not self._listed

    def _do_without(self, error: Exception) -> None:
        if not self._absent:
            self._absent = True
            _log.warning("decisions are made without %s, which can't be watched: %s", self._kind.name, error)
            self._feed.do_without(self._kind)
        self._stop.wait(_LONGEST_PAUSE * random.uniform(0.5, 1.5))

    def _list(self) -> str:
        query = {"limit": str(_PAGE), **self._kind.query}
        batch = Batch(kind=self._kind, complete=True)
        while True:
            page = _PAGES.decode(self._transport.get(self._kind.path, query))
            for raw in page.items:
                self._put(batch, raw)
            if not page.metadata.continue_:
                batch.version = page.metadata.resource_version
                self._feed.extend(batch)
                self._listed = True
                return batch.version
            query["continue"] = page.metadata.continue_

    def _watch(self, version: str) -> str:
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(_WATCH_SECONDS),
            **self._kind.query,
        }
        # A dead connection says nothing: give up reading soon after the server should have ended the watch.
        response = self._transport.watch(self._kind.path, query, read_timeout=_WATCH_SECONDS + 30)
        self._response = response
        try:
            if self._stop.is_set():
                # `stop` came while the watch was being opened, so it found no response to shut down.
                return version
            for events in _batches(response):
                if self._stop.is_set():
                    break
                version = self._take(events, version)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiServerError(f"the watch of {self._kind.name} broke: {error}") from error
        finally:
            self._response = None
            with suppress(Exception):
                response.close()
        return version

    def _take(self, events: list[_Event], version: str) -> str:
        batch = Batch(kind=self._kind)
        for event in events:
            identity = self._identify(event.object)
            if event.type == "ERROR":
                if identity.code == 410:
                    raise _ExpiredError
                raise ApiServerError(f"the watch of {self._kind.name} failed: {identity.message}", status=identity.code)
            version = identity.metadata.resource_version
            if event.type == "DELETED":
                batch.drop(identity.key)
            elif event.type != "BOOKMARK":
                self._put(batch, event.object)
        batch.version = version
        self._feed.extend(batch)
        return version

    def _put(self, batch: Batch, raw: msgspec.Raw) -> None:
        try:
            batch.put(self._read(raw))
        except msgspec.MsgspecError as error:
            name = self._identify(raw).key
            _log.error("%s %s is malformed and left out: %s", self._kind.name, name, error)


def _batches(response: urllib3.BaseHTTPResponse) -> Iterator[list[_Event]]:
    """Yield the events of a watch as they come, those that came together in one list."""
    decoder = msgspec.json.Decoder(_Event)
    rest = b""
    for chunk in response.stream(65536, decode_content=True):
        *lines, rest = (rest + chunk).split(b"\n")
        yield [decoder.decode(line) for line in lines if line]
