"""Reflectors: keep up with one kind of object by list and watch."""

import logging
import random
from contextlib import suppress
from threading import Event, Thread
from time import monotonic

import msgspec
import urllib3

from nodewright.api.errors import AccessDeniedError, ApiServerError
from nodewright.kube.answers import WatchEvent, events_of, identity_of, is_lost, read_page
from nodewright.kube.feed import Batch, Feed
from nodewright.kube.kinds import Kind
from nodewright.kube.transport import Transport

#: Pages keep memory small on both sides. They are asked for without a version, so that the server answers with the
#: present: the first list of all may come from a cache that is behind, and would come in one piece.
_PAGE = 500
#: How often a list begins anew because its next page was forgotten, before that counts as a failure.
_LIST_TRIES = 3
_WATCH_SECONDS = 300
#: An API server says something at least once a minute, be it a bookmark. Where it has nothing to say after all, opening
#: the watch again costs little; a dead connection is noticed.
_SILENCE_SECONDS = 90.0
#: A watch that ends sooner and told nothing has failed.
_SHORT_SECONDS = 1.0
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 30.0
#: So long, in seconds, a kind may fail before anybody is told: by then it is known whether all of them do.
_QUIET_SECONDS = 4.0

_log = logging.getLogger(__name__)


class _ForgottenError(Exception):
    """The version to watch from is too old: list again."""


class Reflector:
    """Lists and watches one kind on a thread of its own and hands what it sees to a feed.

    A watch that ends or breaks is opened again from where it was; where that is forgotten (HTTP 410, or in the stream),
    or the server was put back to an earlier state, everything is listed. After a failure there is a pause that grows
    with each further one, never shorter than the server asks for. Of a malformed object the last state that could be
    read stays. While the API server does not let us list an optional kind at all, we do without it and look again every
    now and then.
    """

    def __init__(self, kind: Kind, transport: Transport, feed: Feed) -> None:
        self._kind = kind
        self._transport = transport
        self._feed = feed
        self._read = kind.reader()
        #: From where to watch; empty if everything has to be listed.
        self._version = ""
        self._pause = _FIRST_PAUSE
        #: When the first of the failures happened that nothing good came after; and whether it was told.
        self._failing_since: float | None = None
        self._told = False
        self._listed = False
        self._absent = False
        self._stop = Event()
        self._response: urllib3.BaseHTTPResponse | None = None
        self._thread = Thread(target=self._run, name=f"reflector-{kind.name}", daemon=True)

    def start(self) -> None:
        """Begin to list and watch."""
        self._thread.start()

    def halt(self) -> None:
        """Let the thread end as soon as it can."""
        self._stop.set()
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
            try:
                if not self._version:
                    self._list()
                self._watch()
            except _ForgottenError:
                self._version = ""
            except Exception as error:
                # Whatever comes instead of an answer, the thread goes on: nobody else keeps the cluster up to date.
                # Whom we may not watch we list now and then.
                if is_lost(error) or isinstance(error, AccessDeniedError):
                    self._version = ""
                if self._stop.is_set():
                    return
                if self._can_do_without(error):
                    self._do_without(error)
                else:
                    self._note_failure(error)

    def _can_do_without(self, error: Exception) -> bool:
        refused = isinstance(error, AccessDeniedError | ApiServerError) and error.status in (403, 404)
        # What was seen once is not forgotten because it can't be seen for a while.
        return refused and self._kind.optional and not self._listed

    def _do_without(self, error: Exception) -> None:
        if not self._absent:
            self._absent = True
            # Which right is missing is told for itself.
            why = "" if getattr(error, "right", None) else f", which can't be watched: {error}"
            _log.warning("decisions are made without %s%s", self._kind.name, why)
            self._feed.do_without(self._kind)
        self._stop.wait(_LONGEST_PAUSE * random.uniform(0.5, 1.5))

    def _note_failure(self, error: Exception) -> None:
        # One of a row is told, and the end of it, unless it is the same for all kinds.
        now = monotonic()
        self._failing_since = now if self._failing_since is None else self._failing_since
        refused = isinstance(error, AccessDeniedError) and error.right is not None
        everybody = refused or self._transport.outage.lasting or self._transport.outage.just_over
        tell = not self._told and not everybody and now - self._failing_since >= _QUIET_SECONDS
        self._told = self._told or tell
        self._feed.note_trouble(self._kind.name, str(error))
        level = logging.WARNING if tell else logging.DEBUG
        _log.log(level, "cannot watch %s, trying again: %s", self._kind.name, error)
        asked = getattr(error, "retry_after", None) or 0.0
        # Kinds that failed together do not come back together.
        self._stop.wait(max(self._pause, asked) * random.uniform(1.0, 1.5))
        self._pause = min(self._pause * 2, _LONGEST_PAUSE)

    def _note_success(self) -> None:
        if self._told:
            _log.info("watching %s again", self._kind.name)
        self._told, self._failing_since = False, None
        self._pause = _FIRST_PAUSE
        self._feed.hear_of(self._kind)

    def _list(self) -> None:
        """Hand everything there is to the feed."""
        for left in reversed(range(_LIST_TRIES)):
            with suppress(_ForgottenError):
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
                    raise _ForgottenError from error
                raise
            self._feed.hear_of(self._kind)
            for raw in page.items or ():
                self._put(batch, raw)
            if not page.metadata.continue_:
                batch.version = page.metadata.resource_version
                return batch
            query["continue"] = page.metadata.continue_
        raise ApiServerError(f"the list of {self._kind.name} was not read to its end")

    def _watch(self) -> None:
        """Hand changes to the feed until the watch ends, breaks or falls silent."""
        query = {
            "watch": "true",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            # All end at times of their own.
            "timeoutSeconds": str(int(_WATCH_SECONDS * random.uniform(1.0, 2.0))),
            **self._kind.query,
        }
        opened, before, broken = monotonic(), self._version, ""
        response = self._transport.watch(self._kind.path, query, read_timeout=_SILENCE_SECONDS)
        self._response = response
        try:
            # `stop` may have come while the watch was being opened, so that it found no response to shut down.
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
                    if identity.says_forgotten:
                        raise _ForgottenError
                    message = f"the watch of {self._kind.name} failed: {identity.message}"
                    raise ApiServerError(message, status=identity.code)
                if event.type == "DELETED":
                    batch.drop(identity.key)
                elif event.type != "BOOKMARK":
                    self._put(batch, event.object)
                batch.version = identity.metadata.resource_version or batch.version
        finally:
            # What came before a refusal holds.
            if batch.changes or batch.version != self._version:
                self._version = batch.version
                self._feed.extend(batch)

    def _put(self, batch: Batch, raw: msgspec.Raw) -> None:
        try:
            batch.put(self._read(raw))
        except msgspec.MsgspecError as error:
            key = identity_of(raw).key
            batch.leave(key)
            _log.error("%s %s is malformed and left as it was: %s", self._kind.name, key or "without a name", error)
