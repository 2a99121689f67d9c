"""Reading requests: get, list in chunks, watch."""

from collections import OrderedDict
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any

from nodewright_fake.apiserver.changelog import Changelog
from nodewright_fake.apiserver.document import Document
from nodewright_fake.apiserver.request import Request
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.selectors import exact_name, field_predicate, label_predicate
from nodewright_fake.apiserver.status import bad_request, expired, invalid, version_from_the_future
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.views import View, view_for
from nodewright_fake.apiserver.watch import Selection, Watch
from nodewright_fake.apiserver.wire import Response

_KEPT_SNAPSHOTS = 16
_LONGEST_WATCH_SECONDS = 1800


@dataclass(frozen=True, kw_only=True)
class _Snapshot:
    """A list that is handed out in chunks."""

    version: int
    documents: list[Document]
    #: Whether to tell the client how many items are left; with selectors the server does not know.
    countable: bool


class Reader:
    """Answers get, list and watch."""

    def __init__(self, store: Store, changelog: Changelog, *, bookmark_interval: float, expires_in_band: bool) -> None:
        self._store = store
        self._changelog = changelog
        self._bookmark_interval = bookmark_interval
        self._expires_in_band = expires_in_band
        self._snapshots: OrderedDict[str, _Snapshot] = OrderedDict()
        self._tokens = count(1)
        self._lock = Lock()

    def get(self, request: Request, resource: Resource) -> Response:
        """Answer with one object."""
        assert request.target is not None
        found = self._store.get(resource.key, request.target.name, request.target.namespace)
        return Response(body=self.view(request, resource).one(found))

    def list_chunk(self, request: Request, resource: Resource) -> Response:
        """Answer with the selected objects, or with the next chunk of an earlier answer."""
        limit = request.number("limit", 0)
        token = request.query.get("continue", "")
        if token:
            snapshot, start = self._continued(token)
        else:
            snapshot, start = self._snapshot(request, resource), 0
        end = start + limit if limit else len(snapshot.documents)
        metadata: dict[str, Any] = {"resourceVersion": str(snapshot.version)}
        if end < len(snapshot.documents):
            metadata["continue"] = self._keep(snapshot, token, end)
            if snapshot.countable:
                metadata["remainingItemCount"] = len(snapshot.documents) - end
        return Response(body=self.view(request, resource).many(snapshot.documents[start:end], metadata))

    def watch(self, request: Request, resource: Resource) -> Response:
        """Answer with a stream of events that lasts until the client leaves or the time is up."""
        wants_initial = request.flag("sendInitialEvents")
        _check_watch_options(request)
        selection = self.selection(request, resource)
        stated = self._version(request)
        signals = self._changelog.signals
        initial: list[Document] = []
        with self._store.lock:
            version = self._store.version
            if wants_initial or not stated:
                initial = self._candidates(resource, selection)
        initial = _chosen(initial, selection)
        if stated and not wants_initial:
            version = stated
            if not self._expires_in_band:
                self._changelog.check(version)
        watch = Watch(
            changelog=self._changelog,
            signals=signals,
            view=self.view(request, resource),
            selection=selection,
            initial=initial,
            version=version,
            bookmarks=request.flag("allowWatchBookmarks"),
            marks_initial_end=wants_initial and request.flag("allowWatchBookmarks"),
            bookmark_interval=self._bookmark_interval,
            timeout=request.number("timeoutSeconds", 0) or _LONGEST_WATCH_SECONDS,
        )
        return Response(body=watch.lines(), headers={"Cache-Control": "no-cache, private"})

    def selection(self, request: Request, resource: Resource) -> Selection:
        """Return what the request's namespace and selectors pick. Raises `StatusError` 400."""
        assert request.target is not None
        fields = request.query.get("fieldSelector", "")
        name = request.target.name or exact_name(fields)
        return Selection(
            namespace=request.target.namespace or None,
            name=name or None,
            labels=label_predicate(request.query.get("labelSelector", "")),
            fields=None if exact_name(fields) else field_predicate(resource.key, fields),
        )

    def selected(self, request: Request, resource: Resource) -> list[Document]:
        """Return the objects that the request picks now."""
        selection = self.selection(request, resource)
        return _chosen(self._candidates(resource, selection), selection)

    def forget(self) -> None:
        """Forget all lists that are being handed out in chunks: the next chunk is answered with 410."""
        with self._lock:
            self._snapshots.clear()

    def view(self, request: Request, resource: Resource) -> View:
        """Return how the client wants to see objects. Raises `StatusError` 406."""
        accept, rows = request.headers.get("accept", ""), request.query.get("includeObject", "")
        return view_for(resource, accept, rows, self._store.clock.now)

    def _candidates(self, resource: Resource, selection: Selection) -> list[Document]:
        """Return what may be selected, quickly: choosing can wait until the store is unlocked."""
        if selection.name is not None and (selection.namespace is not None or not resource.namespaced):
            found = self._store.find(resource.key, selection.name, selection.namespace or "")
            return [] if found is None else [found]
        return self._store.list(resource.key, selection.namespace)

    def _snapshot(self, request: Request, resource: Resource) -> _Snapshot:
        stated = self._version(request)
        selection = self.selection(request, resource)
        with self._store.lock:
            if request.query.get("resourceVersionMatch") == "Exact" and stated != self._store.version:
                raise expired(f"too old resource version: {stated} ({self._store.version}): only the present is kept")
            version, documents = self._store.version, self._candidates(resource, selection)
        documents = _chosen(documents, selection)
        countable = selection.labels is None and selection.fields is None and selection.name is None
        return _Snapshot(version=version, documents=documents, countable=countable)

    def _version(self, request: Request) -> int:
        """Return the version that the client asks for, 0 for any. Raises `StatusError` 504 if it is yet to come."""
        text = request.query.get("resourceVersion", "")
        if text and not text.isdecimal():
            raise bad_request(f"invalid resource version {text!r}: it is the text that an earlier answer carried")
        version = int(text or 0)
        if version > self._store.version:
            raise version_from_the_future(version, self._store.version)
        return version

    def _keep(self, snapshot: _Snapshot, token: str, position: int) -> str:
        with self._lock:
            name = token.partition(".")[0] or str(next(self._tokens))
            self._snapshots[name] = snapshot
            self._snapshots.move_to_end(name)
            while len(self._snapshots) > _KEPT_SNAPSHOTS:
                self._snapshots.popitem(last=False)
        return f"{name}.{position}"

    def _continued(self, token: str) -> tuple[_Snapshot, int]:
        name, _, position = token.partition(".")
        if not position.isdecimal():
            raise bad_request(f"continue key is not valid: {token!r} is not what an earlier answer carried")
        with self._lock:
            snapshot = self._snapshots.get(name)
        if snapshot is None:
            raise expired(
                "The provided continue parameter is too old to display a consistent list result. "
                "You must start a new list without the continue parameter."
            )
        return snapshot, int(position)


def _chosen(candidates: list[Document], selection: Selection) -> list[Document]:
    if selection.name is None and selection.labels is None and selection.fields is None:
        return candidates
    return [document for document in candidates if selection.shows(document)]


def _check_watch_options(request: Request) -> None:
    match = request.query.get("resourceVersionMatch", "")
    if "sendInitialEvents" in request.query:
        if match != "NotOlderThan":
            problem = "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            raise invalid("ListOptions", "meta.k8s.io", "", [("resourceVersionMatch", problem)])
    elif match:
        problem = "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        raise invalid("ListOptions", "meta.k8s.io", "", [("resourceVersionMatch", problem)])
