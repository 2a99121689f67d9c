"""The objects of the embedded cluster and their versions."""

import random
import string
import uuid
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import Literal

from nodewright.api import Clock

from nodewright_fake.apiserver.admission import admit
from nodewright_fake.apiserver.defaults import complete
from nodewright_fake.apiserver.document import Document, Object, copied
from nodewright_fake.apiserver.status import already_exists, conflict, not_found

__all__ = ["Change", "EventType", "Object", "Store", "timestamp"]

EventType = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One entry of the log."""

    version: int
    type: EventType
    resource: str
    #: The object after the change; for DELETED its last state, with the version of the deletion.
    object: Document
    #: The object before the change, so that a watch with a selector can tell what came into view and what left it.
    before: Document | None


class Store:
    """All objects by resource (``pods``, ``nodes``, ``deployments.apps``), namespace and name.

    Safe to use from any thread. Subscribers are called with each change, in order, while the store is locked: they
    must be quick and must not write to the store from within.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lock = RLock()
        self.version = 1
        self._shelves: dict[str, _Shelf] = {}
        self._subscribers: tuple[Callable[[Change], None], ...] = ()
        self._random = random.Random(0)

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        """Call *subscriber* with every change from now on; returns a function that ends it."""

        def unsubscribe() -> None:
            with self.lock:
                self._subscribers = tuple(other for other in self._subscribers if other is not subscriber)

        with self.lock:
            self._subscribers = (*self._subscribers, subscriber)
        return unsubscribe

    def get(self, resource: str, name: str, namespace: str = "") -> Document:
        """Return an object; raises `StatusError` 404."""
        found = self.find(resource, name, namespace)
        if found is None:
            raise not_found(resource, name)
        return found

    def find(self, resource: str, name: str, namespace: str = "") -> Document | None:
        """Return an object, or None."""
        with self.lock:
            shelf = self._shelves.get(resource)
            return shelf.find(namespace, name) if shelf else None

    def dependents(self, uid: str) -> list[tuple[str, Document]]:
        """Return all objects that name *uid* as an owner, with their resource. Looks at every object there is."""
        with self.lock:
            return [
                (resource, document)
                for resource, shelf in self._shelves.items()
                for document in shelf.objects(None)
                if any(owner.get("uid") == uid for owner in document["metadata"].get("ownerReferences") or ())
            ]

    def list(self, resource: str, namespace: str | None = None) -> list[Document]:
        """Return all objects of a resource (in one namespace), in order of namespace and name."""
        with self.lock:
            shelf = self._shelves.get(resource)
            return shelf.objects(namespace) if shelf else []

    def create(self, resource: str, new: Object, *, dry_run: bool = False) -> Document:
        """Add an object as the API server would: named (from generateName), dated, with defaults and admission.

        Raises `StatusError` 409 for a name that is taken and 403 for a pod that admission refuses.
        With *dry_run* nothing is stored.
        """
        with self.lock:
            added = Document(copied(new))
            metadata = added.setdefault("metadata", {})
            if not metadata.get("name") and metadata.get("generateName"):
                metadata["name"] = metadata["generateName"] + self._suffix()
            if self.find(resource, metadata["name"], metadata.get("namespace", "")) is not None:
                raise already_exists(resource, metadata["name"])
            metadata["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            metadata["creationTimestamp"] = timestamp(self.clock.now())
            for unborn in ("deletionTimestamp", "deletionGracePeriodSeconds", "generation", "resourceVersion"):
                metadata.pop(unborn, None)
            complete(resource, added, created=True)
            admit(resource, added, self)
            if not dry_run:
                self._record("ADDED", resource, added, None)
            return added

    def restore(self, resource: str, documents: Iterable[Object]) -> None:
        """Take in objects of another cluster as they are, whole and with names, dates and uids of their own.

        What is like in many of them may be the same object: nothing is copied. Each gets a version of its own.
        """
        with self.lock:
            for document in documents:
                self._record("ADDED", resource, Document(document), None)

    def update(self, resource: str, changed: Object, *, dry_run: bool = False) -> Document:
        """Replace an object, with defaults filled in.

        With ``metadata.resourceVersion`` given, raises `StatusError` 409 if it is not the latest. An update that
        changes nothing is no change. Removing the last finalizer of a deleted object removes it.
        ``metadata.generation``, where the object has one, counts the changes of everything but metadata and status.
        """
        with self.lock:
            metadata = changed["metadata"]
            before = self.get(resource, metadata["name"], metadata.get("namespace", ""))
            stated = metadata.get("resourceVersion")
            if stated and stated != before["metadata"]["resourceVersion"]:
                raise conflict(resource, metadata["name"])
            after = Document(copied(changed))
            complete(resource, after)
            for kept in _KEPT:
                after["metadata"].pop(kept, None)
                if kept in before["metadata"]:
                    after["metadata"][kept] = before["metadata"][kept]
            if "generation" in before["metadata"] and _intent(after) != _intent(before):
                after["metadata"]["generation"] += 1
            if after == before:
                return before
            if not dry_run:
                self._record("DELETED" if _may_go(resource, after) else "MODIFIED", resource, after, before)
            return after

    def modify(self, resource: str, name: str, namespace: str, change: Callable[[Object], None]) -> Document:
        """Apply *change* to a copy of the latest version of an object and store it; never conflicts."""
        with self.lock:
            draft = copied(self.get(resource, name, namespace))
            change(draft)
            return self.update(resource, draft)

    def delete(
        self, resource: str, name: str, namespace: str = "", *, grace_seconds: int | None = None, dry_run: bool = False
    ) -> Document:
        """Delete an object, or mark it deleted while finalizers or (for a pod on a node) its grace period hold it.

        A pod goes for good when its kubelet deletes it with ``grace_seconds=0``.
        """
        with self.lock:
            before = self.get(resource, name, namespace)
            after = Document(copied(before))
            grace = _grace(after, grace_seconds) if resource == "pods" else 0
            metadata = after["metadata"]
            marked = metadata.get("deletionGracePeriodSeconds")
            if "deletionTimestamp" not in metadata or (marked is not None and grace < marked):
                metadata["deletionTimestamp"] = timestamp(self.clock.now() + timedelta(seconds=grace))
                metadata["deletionGracePeriodSeconds"] = grace
            if dry_run:
                return after
            if _may_go(resource, after):
                self._record("DELETED", resource, after, before)
            elif after != before:
                self._record("MODIFIED", resource, after, before)
            return after

    def _record(self, kind: EventType, resource: str, after: Document, before: Document | None) -> None:
        self.version += 1
        after["metadata"]["resourceVersion"] = str(self.version)
        shelf = self._shelves.setdefault(resource, _Shelf())
        if kind == "DELETED":
            shelf.remove(after)
        else:
            shelf.put(after)
        change = Change(version=self.version, type=kind, resource=resource, object=after, before=before)
        for subscriber in self._subscribers:
            subscriber(change)

    def _suffix(self) -> str:
        return "".join(self._random.choices(string.ascii_lowercase + string.digits, k=5))


class _Shelf:
    """The objects of one resource, by namespace and kept in order of their names."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Document]] = {}
        self._names: dict[str, list[str]] = {}

    def find(self, namespace: str, name: str) -> Document | None:
        return self._objects.get(namespace, {}).get(name)

    def objects(self, namespace: str | None) -> list[Document]:
        found: list[Document] = []
        for space in sorted(self._names) if namespace is None else (namespace,):
            found += map(self._objects.get(space, {}).__getitem__, self._names.get(space, ()))
        return found

    def put(self, document: Document) -> None:
        namespace, name = document["metadata"].get("namespace", ""), document["metadata"]["name"]
        objects = self._objects.setdefault(namespace, {})
        if name not in objects:
            insort(self._names.setdefault(namespace, []), name)
        objects[name] = document

    def remove(self, document: Document) -> None:
        namespace, name = document["metadata"].get("namespace", ""), document["metadata"]["name"]
        names = self._names[namespace]
        del self._objects[namespace][name]
        del names[bisect_left(names, name)]


#: What an update cannot change; the server alone decides on it.
_KEPT = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "resourceVersion",
)


def _grace(pod: Object, wanted: int | None) -> int:
    if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    return int(pod["spec"].get("terminationGracePeriodSeconds", 30)) if wanted is None else wanted


def _may_go(resource: str, after: Object) -> bool:
    metadata = after["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return resource != "pods" or not metadata.get("deletionGracePeriodSeconds")


def _intent(document: Object) -> Object:
    return {key: value for key, value in document.items() if key not in ("metadata", "status")}


def timestamp(moment: datetime) -> str:
    """Return *moment* as Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_timestamp(text: str) -> datetime:
    """Return the moment that *text* names, such as ``2030-01-01T00:00:00Z``; raises `ValueError` for other texts."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
