"""Adoption: nodes that others make get a kubelet."""

from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.nodes.kubelets import Kubelets
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.host import SCHEME


class NodeAdoption(Reconciler[str]):
    """Lets a kubelet run on each node that is no machine of the world's own cloud, until the node is deleted.

    Its keys are names of nodes.
    """

    def __init__(self, store: Store, kubelets: Kubelets) -> None:
        super().__init__(store)
        self._kubelets = kubelets
        #: The uid of each adopted node by name.
        self._adopted: dict[str, str] = {}

    def observe(self, change: Change) -> None:
        """Note a node that came or went."""
        if change.resource == "nodes" and change.type != "MODIFIED":
            self._touched.add(change.object["metadata"]["name"])

    def sync(self, key: str) -> None:
        """Start or end the kubelet of the node named *key*."""
        node = self.store.find("nodes", key)
        uid = None if node is None else node["metadata"]["uid"]
        if key in self._adopted and self._adopted[key] != uid:
            del self._adopted[key]
            self._kubelets.abandon(key)
        if node is None or key in self._adopted:
            return
        if not str((node.get("spec") or {}).get("providerID", "")).startswith(SCHEME):
            self._adopted[key] = node["metadata"]["uid"]
            self._kubelets.adopt(node)
