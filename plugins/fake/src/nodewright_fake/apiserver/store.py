"""The objects of the embedded cluster, their versions and the log of their changes."""

import copy
import random
import string
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import RLock
from typing import Any, Literal

from nodewright.api import Clock

from nodewright_fake.apiserver.status import already_exists, conflict, not_found

#: A Kubernetes object as parsed JSON. What the store hands out is shared: never change it, change a copy.
Object = dict[str, Any]
EventType = Literal["ADDED", "MODIFIED", "DELETED"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One entry of the log."""

    version: int
    type: EventType
    resource: str
    #: The object after the change; for DELETED its last state, with the version of the deletion.
    object: Object
    #: The object before the change, so that a watch with a selector can tell what came into view and what left it.
    before: Object | None


class Store:
    """All objects by resource (``pods``, ``nodes``, ``deployments.apps``), namespace and name.

    Safe to use from any thread. Subscribers are called with each change, in order, while the store is locked: they
    must be quick and must not write to the store from within.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.lock = RLock()
        self.version = 1
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._subscribers: list[Callable[[Change], None]] = []
        self._random = random.Random(0)

    def subscribe(self, subscriber: Callable[[Change], None]) -> Callable[[], None]:
        """Call *subscriber* with every change from now on; returns a function that ends it."""
        with self.lock:
            self._subscribers.append(subscriber)
        return lambda: self._subscribers.remove(subscriber)

    def get(self, resource: str, name: str, namespace: str = "") -> Object:
        """Return an object; raises `StatusError` 404."""
        with self.lock:
            found = self.find(resource, name, namespace)
        if found is None:
            raise not_found(resource, name)
        return found

    def find(self, resource: str, name: str, namespace: str = "") -> Object | None:
        """Return an object, or None."""
        with self.lock:
            return self._objects.get(resource, {}).get((namespace, name))

    def list(self, resource: str, namespace: str | None = None) -> list[Object]:
        """Return all objects of a resource (in one namespace), in order of namespace and name."""
        with self.lock:
            objects = self._objects.get(resource, {})
            return [objects[key] for key in sorted(objects) if namespace is None or key[0] == namespace]

    def create(self, resource: str, new: Object) -> Object:
        """Add an object: fills in name (from generateName), uid, version and time. Raises `StatusError` 409."""
        with self.lock:
            added = copy.deepcopy(new)
            metadata = added.setdefault("metadata", {})
            if not metadata.get("name") and metadata.get("generateName"):
                metadata["name"] = metadata["generateName"] + self._suffix()
            key = (metadata.get("namespace", ""), metadata["name"])
            if key in self._objects.get(resource, {}):
                raise already_exists(resource, metadata["name"])
            metadata["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
            metadata["creationTimestamp"] = timestamp(self.clock.now())
            self._record("ADDED", resource, added, None)
            return added

    def update(self, resource: str, changed: Object) -> Object:
        """Replace an object. With ``metadata.resourceVersion`` given, raises `StatusError` 409 if it is not the latest.

        An update that changes nothing is no change. Removing the last finalizer of a deleted object removes it.
        """
        with self.lock:
            metadata = changed["metadata"]
            before = self.get(resource, metadata["name"], metadata.get("namespace", ""))
            stated = metadata.get("resourceVersion")
            if stated and stated != before["metadata"]["resourceVersion"]:
                raise conflict(resource, metadata["name"])
            after = copy.deepcopy(changed)
            for kept in ("uid", "creationTimestamp", "deletionTimestamp", "resourceVersion"):
                after["metadata"].pop(kept, None)
                if kept in before["metadata"]:
                    after["metadata"][kept] = before["metadata"][kept]
            if after == before:
                return before
            if "deletionTimestamp" in after["metadata"] and self._may_go(resource, after):
                self._record("DELETED", resource, after, before)
            else:
                self._record("MODIFIED", resource, after, before)
            return after

    def modify(self, resource: str, name: str, namespace: str, change: Callable[[Object], None]) -> Object:
        """Apply *change* to a copy of the latest version of an object and store it; never conflicts."""
        with self.lock:
            draft = copy.deepcopy(self.get(resource, name, namespace))
            change(draft)
            return self.update(resource, draft)

    def delete(self, resource: str, name: str, namespace: str = "", *, grace_seconds: int | None = None) -> Object:
        """Delete an object, or mark it deleted while finalizers or (for a pod on a node) its grace period hold it.

        A pod goes for good when its kubelet deletes it with ``grace_seconds=0``.
        """
        with self.lock:
            before = self.get(resource, name, namespace)
            after = copy.deepcopy(before)
            if resource == "pods":
                grace = grace_seconds
                if grace is None:
                    grace = after["spec"].get("terminationGracePeriodSeconds", 30)
                if not after["spec"].get("nodeName") or after.get("status", {}).get("phase") in ("Succeeded", "Failed"):
                    grace = 0
            else:
                grace = 0
            metadata = after["metadata"]
            marked = metadata.get("deletionGracePeriodSeconds")
            if "deletionTimestamp" not in metadata or (marked is not None and grace < marked):
                metadata["deletionTimestamp"] = timestamp(self.clock.now() + timedelta(seconds=grace))
                metadata["deletionGracePeriodSeconds"] = grace
            if self._may_go(resource, after):
                self._record("DELETED", resource, after, before)
            elif after != before:
                self._record("MODIFIED", resource, after, before)
            return after

    @staticmethod
    def _may_go(resource: str, marked: Object) -> bool:
        metadata = marked["metadata"]
        if metadata.get("finalizers"):
            return False
        return resource != "pods" or not metadata.get("deletionGracePeriodSeconds")

    def _record(self, kind: EventType, resource: str, after: Object, before: Object | None) -> None:
        self.version += 1
        metadata = after["metadata"]
        metadata["resourceVersion"] = str(self.version)
        key = (metadata.get("namespace", ""), metadata["name"])
        objects = self._objects.setdefault(resource, {})
        if kind == "DELETED":
            del objects[key]
        else:
            objects[key] = after
        change = Change(version=self.version, type=kind, resource=resource, object=after, before=before)
        for subscriber in tuple(self._subscribers):
            subscriber(change)

    def _suffix(self) -> str:
        return "".join(self._random.choices(string.ascii_lowercase + string.digits, k=5))


def timestamp(moment: datetime) -> str:
    """Return *moment* as Kubernetes writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
