"""Objects by the controller that owns them."""

from collections import defaultdict

from nodewright_fake.apiserver.store import Change, Object
from nodewright_fake.controllers.pods import Key, controller_of, key_of


class OwnedIndex:
    """The objects of one resource by the uid of their controller."""

    def __init__(self, resource: str) -> None:
        self._resource = resource
        self._owned: defaultdict[str, dict[Key, Object]] = defaultdict(dict)

    def owned_by(self, uid: str) -> list[Object]:
        """Return the objects of the controller with *uid*, oldest first."""
        return list(self._owned[uid].values()) if uid in self._owned else []

    def observe(self, change: Change) -> None:
        """Keep up with *change*."""
        if change.resource != self._resource:
            return
        key = key_of(change.object)
        owner = controller_of(change.object)
        before = controller_of(change.before) if change.before is not None else None
        if before is not None and (change.type == "DELETED" or owner is None or owner.uid != before.uid):
            self._owned[before.uid].pop(key, None)
            if not self._owned[before.uid]:
                del self._owned[before.uid]
        if owner is not None and change.type != "DELETED":
            self._owned[owner.uid][key] = change.object
