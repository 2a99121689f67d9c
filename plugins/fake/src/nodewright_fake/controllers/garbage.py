"""Garbage collection by owner: what belongs to a deleted object goes too."""

from collections import defaultdict

from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.pods import key_of, owners_of
from nodewright_fake.controllers.reconciler import Reconciler


class GarbageCollector(Reconciler[str]):
    """Deletes the dependents of deleted objects. Its keys are the uids of owners; one that never was is not missed."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._dependents: defaultdict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)

    def observe(self, change: Change) -> None:
        """Keep up with who belongs to whom, and note an owner that went."""
        place = (change.resource, *key_of(change.object))
        owners = [owner.uid for owner in owners_of(change.object)] if change.type != "DELETED" else []
        if change.before is not None:
            for owner in owners_of(change.before):
                if owner.uid not in owners:
                    self._dependents[owner.uid].pop(place, None)
                    if not self._dependents[owner.uid]:
                        del self._dependents[owner.uid]
        for uid in owners:
            self._dependents[uid][place] = None
        if change.type == "DELETED":
            self._touched.add(change.object["metadata"]["uid"])

    def sync(self, key: str) -> None:
        """Delete what belongs to the owner with the uid *key* alone; what has other owners loses the reference."""
        for resource, namespace, name in tuple(self._dependents.get(key, ())):
            item = self.store.get(resource, name, namespace)
            others = [reference for reference in item["metadata"]["ownerReferences"] if reference.get("uid") != key]
            if others:
                self.store.update(resource, {**item, "metadata": {**item["metadata"], "ownerReferences": others}})
            else:
                self.store.delete(resource, name, namespace)
