"""Garbage collection by owner: what belongs to a deleted object goes too."""

from collections import defaultdict

from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.pods import key_of
from nodewright_fake.controllers.reconciler import Reconciler

_ORPHAN = "orphan"


class GarbageCollector(Reconciler[str]):
    """Deletes the dependents of deleted objects in the background. Its keys are the uids of owners.

    Deletion with ``propagationPolicy: Orphan`` leaves the finalizer ``orphan`` on the owner: then its dependents lose
    their reference and stay. An owner that never was is not missed.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._dependents: defaultdict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)
        self._orphaning: dict[str, tuple[str, str, str]] = {}

    def observe(self, change: Change) -> None:
        """Keep up with who belongs to whom, and note an owner that goes."""
        place = (change.resource, *key_of(change.object))
        owners = _owners(change.object) if change.type != "DELETED" else []
        if change.before is not None:
            for uid in _owners(change.before):
                if uid not in owners:
                    self._dependents[uid].pop(place, None)
                    if not self._dependents[uid]:
                        del self._dependents[uid]
        for uid in owners:
            self._dependents[uid][place] = None
        metadata = change.object["metadata"]
        if change.type == "DELETED":
            self._touched[metadata["uid"]] = None
        elif "deletionTimestamp" in metadata and _ORPHAN in (metadata.get("finalizers") or ()):
            self._orphaning[metadata["uid"]] = place
            self._touched[metadata["uid"]] = None

    def sync(self, key: str) -> None:
        """Delete, or set free, what belongs to the owner with the uid *key*."""
        dependents = tuple(self._dependents.get(key, ()))
        owner = self._orphaning.pop(key, None)
        for resource, namespace, name in dependents:
            item = self.store.get(resource, name, namespace)
            others = [reference for reference in item["metadata"]["ownerReferences"] if reference["uid"] != key]
            if owner or others:
                freed = {**item, "metadata": {**item["metadata"], "ownerReferences": others}}
                self.store.update(resource, freed)
            else:
                self.store.delete(resource, name, namespace)
        if owner:
            resource, namespace, name = owner
            freed = self.store.get(resource, name, namespace)
            left = [entry for entry in freed["metadata"].get("finalizers") or () if entry != _ORPHAN]
            self.store.update(resource, {**freed, "metadata": {**freed["metadata"], "finalizers": left}})


def _owners(item: Object) -> list[str]:
    return [owner["uid"] for owner in item["metadata"].get("ownerReferences") or ()]
