"""Garbage collection of pods whose node is gone."""

from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.pods import PodIndex, key_of
from nodewright_fake.controllers.reconciler import Reconciler


class OrphanedPods(Reconciler[str]):
    """Deletes the pods of a deleted node at once: no kubelet is left to stop them."""

    def __init__(self, store: Store, pods: PodIndex) -> None:
        super().__init__(store)
        self._pods = pods

    def observe(self, change: Change) -> None:
        """Note a node that went."""
        if change.resource == "nodes" and change.type == "DELETED":
            self._touched[change.object["metadata"]["name"]] = None

    def sync(self, key: str) -> None:
        """Delete the pods on the node named *key* unless it is back."""
        if self.store.find("nodes", key) is None:
            for pod in self._pods.on_node(key):
                namespace, name = key_of(pod)
                self.store.delete("pods", name, namespace, grace_seconds=0)
