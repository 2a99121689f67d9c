"""Reflectors: each follows one kind of object by list and watch."""

import logging
import random
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Thread, Timer
from time import monotonic

import msgspec
import urllib3

from nodewright.api.errors import AccessDeniedError, ApiServerError
from nodewright.kube.feed import Batch, Feed
from nodewright.kube.kinds import WatchedKind, one_config_map
from nodewright.kube.list_watch import WatchEvent, events_of, identity_of, loses_version, read_page
from nodewright.kube.transport import Transport

#: Pages keep memory small on both sides. No resource version is requested, so that the list is current; a list from
#: the server's cache could be stale, and would come in one piece.
_PAGE = 500
#: How often a list starts over because its next page has expired, before that counts as a failure.
_LIST_TRIES = 3
_WATCH_SECONDS = 300
#: An API server sends something at least once a minute, if only a bookmark. After this silence the watch is opened
#: again, which costs little and detects a dead connection.
_SILENCE_SECONDS = 90.0
#: After failures for this long, everything is listed again: then it is known at once what is there now, not only once
#: the watch has something to tell.
_STALE_SECONDS = 90.0
#: A watch that ends sooner without an event has failed.
_SHORT_SECONDS = 1.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0
#: All kinds are tried again within this time after an outage.
_AFTER_OUTAGE_SECONDS = 0.5
#: Seconds of failures before they are logged: by then it is known whether all kinds fail.
_QUIET_SECONDS = 4.0

_log = logging.getLogger(__name__)


class _ExpiredError(Exception):
    """The resource version to watch from is too old, so the kind has to be listed again."""


class Reflector:
    """Lists and watches one kind on its own thread, and hands the changes to a feed.

    A watch that ends or breaks resumes from the last resource version. If that has expired (HTTP 410, or an error in
    the stream) or the server was restored to an earlier state, everything is listed again. The pause after a failure
    grows with each further one, and is never shorter than the server asks for. A malformed object keeps its last
    readable state. While the API server refuses to list an optional kind, decisions go on without it, and the
    reflector tries again from time to time.
    """

    def __init__(self, kind: WatchedKind, transport: Transport, feed: Feed) -> None:
        self._kind = kind
        self._transport = transport
        self._feed = feed
        self._read = kind.reader()
        #: The resource version to watch from; empty if everything has to be listed.
        self._version = ""
        self._pause = _FIRST_PAUSE
        #: When the first of a row of failures happened, and whether the row was logged.
        self._failing_since: float | None = None
        self._logged = False
        #: How many outages were over when it last began to try.
        self._outages_over = 0
        self._listed = False
        self._absent = False
        self._stop = Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._thread = Thread(target=self._run, name=f"reflector-{kind.name}", daemon=True)

    def start(self) -> None:
        """Start to list and watch."""
        self._thread.start()

    def halt(self) -> None:
        """Make the thread end soon; does not wait for it."""
        self._stop.set()
        self._transport.outage.notify()
        response = self._response
        if response is not None:
            with suppress(Exception):
                response.shutdown()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self.halt()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._outages_over = self._transport.outage.over
            try:
                if not self._version:
                    self._list()
                self._watch()
            except _ExpiredError:
                self._version = ""
            except Exception as error:
                # The thread survives any error, as only it keeps this kind up to date. A kind that we may list but not
                # watch is listed again from time to time.
                if loses_version(error) or isinstance(error, AccessDeniedError) or self._is_stale:
                    self._version = ""
                if self._stop.is_set():
                    return
                if self._can_do_without(error):
                    self._do_without(error)
                else:
                    self._note_failure(error)

    @property
    def _is_stale(self) -> bool:
        return self._failing_since is not None and monotonic() - self._failing_since > _STALE_SECONDS

    def _can_do_without(self, error: Exception) -> bool:
        refused = isinstance(error, AccessDeniedError | ApiServerError) and error.status in (403, 404)
        # A kind that was listed once is kept while it can't be listed.
        return refused and self._kind.optional and not self._listed

    def _do_without(self, error: Exception) -> None:
        if not self._absent:
            self._absent = True
            # `Rights` logs the missing right itself.
            why = "" if getattr(error, "right", None) else f", which can't be watched: {error}"
            _log.warning("decisions are made without %s%s", self._kind.name, why)
            self._feed.note_absent(self._kind)
        self._stop.wait(_LONGEST_PAUSE * random.uniform(0.5, 1.5))

    def _note_failure(self, error: Exception) -> None:
        # A row of failures is logged once, and its end, unless all kinds fail in the same way.
        now = monotonic()
        self._failing_since = now if self._failing_since is None else self._failing_since
        refused = isinstance(error, AccessDeniedError) and error.right is not None
        affects_all = refused or self._transport.outage.lasting or self._transport.outage.just_over
        log = not self._logged and not affects_all and now - self._failing_since >= _QUIET_SECONDS
        self._logged = self._logged or log
        self._feed.note_trouble(self._kind.name, str(error))
        level = logging.WARNING if log else logging.DEBUG
        _log.log(level, "cannot watch %s, trying again: %s", self._kind.name, error)
        asked = getattr(error, "retry_after", None) or 0.0
        # A random part, so that kinds that failed together do not retry together.
        pause = max(self._pause, asked) * random.uniform(1.0, 1.5)
        if self._transport.outage.wait(pause, self._stop, self._outages_over):
            self._stop.wait(random.uniform(0, _AFTER_OUTAGE_SECONDS))
            self._pause = _FIRST_PAUSE
        else:
            self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def _note_success(self) -> None:
        if self._logged:
            _log.info("watching %s again", self._kind.name)
        self._logged, self._failing_since = False, None
        self._pause = _FIRST_PAUSE
        self._feed.note_contact(self._kind)

    def _list(self) -> None:
        """List all objects and hand them to the feed."""
        for left in reversed(range(_LIST_TRIES)):
            with suppress(_ExpiredError):
                batch = self._pages(last_try=not left)
                self._feed.extend(batch)
                self._version, self._listed = batch.version, True
                return

    def _pages(self, *, last_try: bool) -> Batch:
        query = {"limit": str(_PAGE), **self._kind.query}
        batch = Batch(kind=self._kind, complete=True)
        while not self._stop.is_set():
            try:
                page = read_page(self._transport.get(self._kind.path, query))
            except ApiServerError as error:
                if error.status == 410 and "continue" in query and not last_try:
                    raise _ExpiredError from error
                raise
            self._feed.note_progress(self._kind)
            for raw in page.items or ():
                self._put(batch, raw)
            if not page.metadata.continue_:
                batch.version = page.metadata.resource_version
                return batch
            query["continue"] = page.metadata.continue_
        raise ApiServerError(f"the list of {self._kind.name} was not read to the end")

    def _watch(self) -> None:
        """Hand changes to the feed until the watch ends, breaks or falls silent."""
        query = {
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            # A random part, so that watches do not all end together.
            "timeoutSeconds": str(int(_WATCH_SECONDS * random.uniform(1.0, 2.0))),
            **self._kind.query,
        }
        opened, before, broken = monotonic(), self._version, ""
        response = self._transport.watch(self._kind.path, query, read_timeout=_SILENCE_SECONDS)
        self._response = response
        # Nothing may change for long. That it stays open is a sign of life, too.
        open_again = Timer(_SHORT_SECONDS, self._note_success)
        open_again.daemon = True
        if self._failing_since is not None:
            open_again.start()
        try:
            # `halt` may have run while the watch was being opened, when there was no response to shut down.
            if not self._stop.is_set():
                for events in events_of(response.stream(65536, decode_content=True)):
                    self._take(events)
                    self._note_success()
                    if self._stop.is_set():
                        return
        except urllib3.exceptions.ReadTimeoutError:
            _log.debug("the watch of %s fell silent", self._kind.name)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            broken = f": {error}"
        finally:
            open_again.cancel()
            self._response = None
            with suppress(Exception):
                response.close()
        if self._version == before and monotonic() - opened < _SHORT_SECONDS and not self._stop.is_set():
            raise ApiServerError(f"the watch of {self._kind.name} ended as soon as it began{broken}")
        self._note_success()

    def _take(self, events: list[WatchEvent]) -> None:
        batch = Batch(kind=self._kind, version=self._version)
        try:
            for event in events:
                identity = identity_of(event.object)
                if event.type == "ERROR":
                    if identity.is_expired:
                        raise _ExpiredError
                    message = f"the watch of {self._kind.name} failed: {identity.message}"
                    raise ApiServerError(message, status=identity.code)
                if event.type == "DELETED":
                    batch.drop(identity.key)
                elif event.type != "BOOKMARK":
                    self._put(batch, event.object)
                batch.version = identity.metadata.resource_version or batch.version
        finally:
            # Events before an error count.
            if batch.changes or batch.version != self._version:
                self._version = batch.version
                self._feed.extend(batch)

    def _put(self, batch: Batch, raw: msgspec.Raw) -> None:
        try:
            batch.put(self._read(raw))
        except msgspec.MsgspecError as error:
            key = identity_of(raw).key
            batch.keep(key)
            _log.error("%s %s is malformed and left as it was: %s", self._kind.name, key or "without a name", error)


class ConfigMapWatch:
    """Runs a reflector for each ConfigMap that a strategy needs. For the loop's thread."""

    def __init__(self, transport: Transport, feed: Feed) -> None:
        self._transport = transport
        self._feed = feed
        self._reflectors: dict[tuple[str, str], tuple[WatchedKind, Reflector]] = {}

    def watch(self, namespace: str, names: Iterable[str]) -> None:
        """Watch the ConfigMaps *names* in *namespace* from now on, and no others."""
        wanted = {(namespace, name) for name in names}
        for gone in self._reflectors.keys() - wanted:
            kind, reflector = self._reflectors.pop(gone)
            reflector.stop()
            self._feed.remove_kind(kind.name)
        for new in sorted(wanted - self._reflectors.keys()):
            kind = one_config_map(*new)
            reflector = Reflector(kind, self._transport, self._feed)
            self._reflectors[new] = kind, reflector
            self._feed.add_kind(kind)
            reflector.start()

    def close(self) -> None:
        """End all watches."""
        self.watch("", ())
