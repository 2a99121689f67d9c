"""Namespaces: the contents of a deleted one are deleted, too."""

from collections import defaultdict

from nodewright_fake.apiserver.store import Change, Store
from nodewright_fake.controllers.pods import key_of
from nodewright_fake.controllers.reconciler import Reconciler


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
