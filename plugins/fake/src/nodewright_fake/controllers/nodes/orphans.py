"""Garbage collection of pods whose node is gone."""

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.pods import PodIndex, key_of, node_of
from nodewright_fake.controllers.reconciler import Reconciler

#: How long a pod may be bound to a node that is not there before it is taken for an orphan.
QUARANTINE_SECONDS = 40


class OrphanedPods(Reconciler[str]):
    """Deletes the pods of a deleted node at once: no kubelet is left to stop them. Its keys are names of nodes."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods

    def observe(self, change: Change) -> None:
        """Note a node that went, and a pod that was bound to one that is not there."""
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
