"""Watches: the changes of a resource as a stream of events."""

import math
import time
from collections.abc import Generator
from dataclasses import dataclass

from nodewright_fake.apiserver.changelog import BATCH, Changelog, Log, Signals
from nodewright_fake.apiserver.document import Document, encode
from nodewright_fake.apiserver.selectors import Predicate
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Change
from nodewright_fake.apiserver.views import View
from nodewright_fake.apiserver.wire import ConnectionEndedError

#: How often a watch without news looks whether its client is still there.
_HEARTBEAT_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which objects of a resource a client wants to see."""

    namespace: str | None = None
    name: str | None = None
    labels: Predicate | None = None
    fields: Predicate | None = None

    def shows(self, document: Document) -> bool:
        """Return whether *document* is one of them."""
        metadata = document["metadata"]
        return (
            (self.namespace is None or metadata.get("namespace", "") == self.namespace)
            and (self.name is None or metadata["name"] == self.name)
            and (self.labels is None or self.labels(document))
            and (self.fields is None or self.fields(document))
        )


@dataclass(frozen=True, kw_only=True)
class Watch:
    """What one client follows, from which version on and for how long."""

    changelog: Changelog
    #: What was asked of all watches before this one began.
    signals: Signals
    view: View
    selection: Selection
    #: What is shown as added before the changes begin.
    initial: list[Document]
    #: The version of the cluster after which the changes begin.
    version: int
    bookmarks: bool
    #: Whether a bookmark tells the end of the initial objects.
    marks_initial_end: bool
    #: Wall-clock seconds between bookmarks without being asked.
    bookmark_interval: float
    #: Wall-clock seconds until the watch ends by itself.
    timeout: float

    def lines(self) -> Generator[bytes]:
        """Yield the events, one or more lines at a time; an empty piece checks that the client still listens.

        Ends after the timeout, or with an in-band error 410. Raises `ConnectionEndedError` when watches are cut.
        """
        yield b"".join(self.view.event("ADDED", document) for document in self.initial)
        if self.marks_initial_end:
            yield self.view.bookmark(self.version, initial_events_end=True)
        try:
            self.changelog.check(self.version)
        except StatusError as error:
            yield _refusal(error)
            return
        with self.changelog.log(self.view.resource.key).opened() as log:
            yield from self._follow(log)

    def _follow(self, log: Log) -> Generator[bytes]:
        cursor = self.version
        # A watch that begins behind the last call for bookmarks owes one: its client may be waiting for it.
        given = self.signals.bookmarks - (self.version < self.signals.bookmarks_at)
        end = time.monotonic() + self.timeout
        bookmark_at = time.monotonic() + self.bookmark_interval if self.bookmarks else math.inf
        while True:
            # In this order: what is asked for after the bell was read rings again.
            rung, wanted, complete_to = log.bell, self.changelog.signals, self.changelog.version
            now = time.monotonic()
            if wanted.closed or now >= end:
                return
            if wanted.cuts > self.signals.cuts:
                raise ConnectionEndedError
            due = self.bookmarks and (wanted.bookmarks > given or now >= bookmark_at)
            patience = 0.0 if due else min(_HEARTBEAT_SECONDS, end - now, bookmark_at - now)
            try:
                changes = log.read(cursor, rung, patience)
            except StatusError as error:
                yield _refusal(error)
                return
            yield b"".join(self._event(change) for change in changes)
            if len(changes) == BATCH:
                cursor = changes[-1].version
                continue
            cursor = max(complete_to, changes[-1].version if changes else 0)
            if due:
                yield self.view.bookmark(cursor)
                given, bookmark_at = wanted.bookmarks, now + self.bookmark_interval

    def _event(self, change: Change) -> bytes:
        """Return the line for a change; empty if neither the object before nor the one after is selected."""
        was_shown = change.before is not None and self.selection.shows(change.before)
        is_shown = change.type != "DELETED" and self.selection.shows(change.object)
        if is_shown:
            return self.view.event("MODIFIED" if was_shown else "ADDED", change.object)
        if not was_shown:
            return b""
        return self.view.event("DELETED", change.object if change.type == "DELETED" else _as_it_left(change))


def _refusal(error: StatusError) -> bytes:
    return encode({"type": "ERROR", "object": error.body}) + b"\n"


def _as_it_left(change: Change) -> Document:
    """Return the object as it was when it was last in view, with the version in which it went out of it."""
    assert change.before is not None
    return Document(
        {**change.before, "metadata": {**change.before["metadata"], "resourceVersion": str(change.version)}}
    )
