"""Events: written by the cluster's own actors, and deleted after an hour."""

from datetime import timedelta
from uuid import NAMESPACE_OID, uuid5

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Object, Store, timestamp
from nodewright_fake.controllers.reconciler import Reconciler

KEPT = timedelta(hours=1)


class Recorder:
    """Writes the events of one component: one object per regarded object and reason, counted up when it recurs."""

    def __init__(self, store: Store, component: str) -> None:
        self.store = store
        self.component = component

    def record(self, regarding: Object, reason: str, message: str, *, warning: bool = False) -> None:
        """Write an event about *regarding*."""
        metadata = regarding["metadata"]
        namespace = metadata.get("namespace") or "default"
        name = f"{metadata['name']}.{uuid5(NAMESPACE_OID, metadata['uid'] + reason).hex[:16]}"
        now = timestamp(self.store.clock.now())
        before = self.store.find("events", name, namespace)
        if before is not None:
            repeated = {**before, "message": message, "count": before.get("count", 1) + 1, "lastTimestamp": now}
            self.store.update("events", repeated)
            return
        reference = {
            "apiVersion": regarding.get("apiVersion", "v1"),
            "kind": regarding.get("kind", ""),
            "name": metadata["name"],
            "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"],
        }
        if metadata.get("namespace"):
            reference["namespace"] = metadata["namespace"]
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace, "name": name},
            "involvedObject": reference,
            "type": "Warning" if warning else "Normal",
            "reason": reason,
            "message": message,
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "eventTime": None,
            "source": {"component": self.component},
            "reportingComponent": self.component,
            "reportingInstance": "",
        }
        self.store.create("events", event)


class EventExpiry(Reconciler[tuple[str, str, str]]):
    """Deletes events that were not written for an hour, of all sources.

    Its keys are namespace, name and the version that was written an hour ago.
    """

    def __init__(self, store: Store, agenda: Agenda) -> None:
        super().__init__(store)
        self._agenda = agenda

    def observe(self, change: Change) -> None:
        """Put down when the event is to go unless it is written again."""
        if change.resource == "events" and change.type != "DELETED":
            metadata = change.object["metadata"]
            key = (metadata.get("namespace", ""), metadata["name"], metadata["resourceVersion"])
            self._agenda.after(KEPT.total_seconds(), lambda: self.touch(key), key=f"event {key[0]}/{key[1]}")

    def sync(self, key: tuple[str, str, str]) -> None:
        """Delete the event if that was the last time."""
        namespace, name, version = key
        event = self.store.find("events", name, namespace)
        if event is not None and event["metadata"]["resourceVersion"] == version:
            self.store.delete("events", name, namespace)
