"""The cluster's objects, changed from within the world with all rights."""

from nodewright_fake.apiserver.catalogue import Catalogue
from nodewright_fake.apiserver.document import Object, copied
from nodewright_fake.apiserver.patch import merge
from nodewright_fake.apiserver.resources import Resource
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Store
from nodewright_fake.apiserver.strategic import strategic_merge
from nodewright_fake.apiserver.validation import check

DEPLOYMENTS = "deployments.apps"


class Cluster:
    """Does what kubectl does, without HTTP. Safe to use from any thread; refusals are raised as `StatusError`."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._catalogue = Catalogue(store)

    def apply(self, manifest: Object) -> None:
        """Create an object, or merge *manifest* into the one that is there. A missing namespace is made."""
        resource = self._resource(manifest["apiVersion"], manifest["kind"])
        draft = copied(manifest)
        metadata = draft["metadata"]
        if resource.namespaced:
            self._ensure_namespace(metadata.setdefault("namespace", "default"))
        name = metadata.get("name")
        with self._store.lock:
            before = self._store.find(resource.key, name, metadata.get("namespace", "")) if name else None
            if before is None:
                check(resource, draft if name else {**draft, "metadata": {**metadata, "name": "generated"}})
                self._store.create(resource.key, draft)
                return
            after: Object = copied(before)
            (merge if resource.custom else strategic_merge)(after, draft)
            check(resource, after)
            self._store.update(resource.key, after)

    def scale(self, namespace: str, deployment: str, replicas: int) -> None:
        """Ask for another number of replicas of a Deployment."""

        def change(draft: Object) -> None:
            draft["spec"]["replicas"] = replicas

        self._store.modify(DEPLOYMENTS, deployment, namespace, change)

    def delete(self, api_version: str, kind: str, namespace: str, name: str) -> None:
        """Delete an object."""
        resource = self._resource(api_version, kind)
        self._store.delete(resource.key, name, (namespace or "default") if resource.namespaced else "")

    def taint(self, node: str, key: str) -> None:
        """Let a node take no more pods; nothing happens if there is no such node."""

        def change(draft: Object) -> None:
            taints = draft["spec"].setdefault("taints", [])
            if not any(taint["key"] == key for taint in taints):
                taints.append({"key": key, "effect": "NoSchedule"})

        with self._store.lock:
            if self._store.find("nodes", node) is not None:
                self._store.modify("nodes", node, "", change)

    def close(self) -> None:
        """Stop following the store."""
        self._catalogue.close()

    def _resource(self, api_version: str, kind: str) -> Resource:
        for resource in self._catalogue.all():
            if (resource.api_version, resource.kind) == (api_version, kind):
                return resource
        raise StatusError(404, "NotFound", f'no matches for kind "{kind}" in version "{api_version}"')

    def _ensure_namespace(self, name: str) -> None:
        with self._store.lock:
            if self._store.find("namespaces", name) is None:
                self._store.create("namespaces", {"metadata": {"name": name}})
