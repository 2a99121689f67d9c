"""Garbage collection: what goes with a deleted owner, a deleted node, or a deleted namespace."""

from collections import defaultdict

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.pods import PodIndex, key_of, node_of, owners_of
from nodewright_fake.controllers.reconciler import Reconciler

#: How long a pod may be bound to a node that is not there before it is taken for an orphan.
QUARANTINE_SECONDS = 40


class GarbageCollector(Reconciler[str]):
    """Deletes the dependents of deleted objects. Its keys are the owners' uids.

    An owner that never existed counts as present.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._dependents: defaultdict[str, dict[tuple[str, str, str], None]] = defaultdict(dict)

    def observe(self, change: Change) -> None:
        """Keep track of owners, and note an owner that is gone."""
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


class OrphanedPods(Reconciler[str]):
    """Deletes the pods of a deleted node at once: no kubelet is left to stop them. Its keys are names of nodes."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods

    def observe(self, change: Change) -> None:
        """Note a node that is gone, and a pod that was bound to a node that is not there."""
        if change.resource == "nodes" and change.type == "DELETED":
            self._touched.add(change.object["metadata"]["name"])
        elif change.resource == "pods" and change.type != "DELETED":
            node = node_of(change.object)
            is_new = change.before is None or node_of(change.before) != node
            if node and is_new and self.store.find("nodes", node) is None:
                self._agenda.after(QUARANTINE_SECONDS, lambda: self.touch(node), key=f"orphans of {node}")

    def sync(self, key: str) -> None:
        """Delete the pods on the node named *key* unless it is back."""
        if self.store.find("nodes", key) is None:
            for pod in self._pods.on_node(key):
                namespace, name = key_of(pod)
                self.store.delete("pods", name, namespace, grace_seconds=0)


class Namespaces(Reconciler[str]):
    """Deletes the contents of deleted namespaces."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._contents: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)

    def observe(self, change: Change) -> None:
        """Keep track of what is in each namespace, and note a namespace that is deleted."""
        namespace, name = key_of(change.object)
        leaving = change.type == "DELETED" or "deletionTimestamp" in change.object["metadata"]
        if change.resource == "namespaces":
            if leaving:
                self._touched.add(name)
        elif namespace:
            if change.type == "DELETED":
                self._contents.get(namespace, {}).pop((change.resource, name), None)
            else:
                self._contents[namespace][change.resource, name] = None

    def sync(self, key: str) -> None:
        """Delete what is in the namespace named *key*."""
        for resource, name in tuple(self._contents.pop(key, ())):
            self.store.delete(resource, name, key)
