"""The base of controllers: a set of keys to look at, reconciled one at a time."""

import logging
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Change, Store

#: A name, or the parts of one.
K = TypeVar("K", str, tuple[str, str], tuple[str, str, str])

#: Errors of reading an object whose fields are missing or malformed. Its author has to mend it.
MALFORMED = (ValueError, TypeError, LookupError, AttributeError)

_log = logging.getLogger(__name__)


class Reconciler(ABC, Generic[K]):
    """Looks at the keys that were touched since the last time, one after the other.

    Keys are sorted, so that the order of requests at one moment does not matter. The store is locked only while one key
    is looked at, so that requests get their turn in between.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._touched: set[K] = set()

    def touch(self, key: K) -> None:
        """Look at *key* in the next `reconcile`. May be called from any thread."""
        with self.store.lock:
            self._touched.add(key)

    @abstractmethod
    def observe(self, change: Change) -> None:
        """Touch the keys that *change* concerns. Called with the store locked: must not write."""

    @abstractmethod
    def sync(self, key: K) -> None:
        """Bring what *key* names into line. Called on the world's thread with the store locked."""

    def reconcile(self) -> bool:
        """Look at everything that was touched; return whether anything was written."""
        with self.store.lock:
            batch, self._touched = sorted(self._touched), set()
        wrote = False
        for key in batch:
            with self.store.lock:
                version = self.store.version
                try:
                    self.sync(key)
                except StatusError as error:
                    _log.warning("%s cannot reconcile %s: %s", type(self).__name__, key, error)
                except MALFORMED as error:
                    _log.warning("%s cannot reconcile %s: %s", type(self).__name__, key, error, exc_info=True)
                wrote |= self.store.version != version
        return wrote
