"""Controllers of pods: which ones exist, and how many pods they want."""

from collections.abc import Mapping, Set

from nodewright.objects import Controller, DaemonSet

DAEMON_SET = "DaemonSet"


class Controllers:
    """Controllers by kind and key. Nothing is known about a kind until `see` or `put` was called for it.

    Decisions read more fields of DaemonSets. These are stored elsewhere, and only found here.
    """

    def __init__(self, daemon_sets: Mapping[str, DaemonSet]) -> None:
        self._daemon_sets = daemon_sets
        self._seen: dict[str, dict[str, Controller]] = {}

    @property
    def seen(self) -> Set[str]:
        """The kinds whose controllers are all known."""
        return self._seen.keys()

    def see(self, kind: str) -> None:
        """Note that all controllers of *kind* are known: from now on, a missing one does not exist."""
        self._seen.setdefault(kind, {})

    def of(self, kind: str) -> Mapping[str, Controller]:
        """Return the controllers of a kind other than DaemonSet, by key."""
        return self._seen.get(kind, {})

    def find(self, kind: str, key: str) -> Controller | DaemonSet | None:
        """Return a controller of a kind that is seen, or None if it does not exist."""
        return self._daemon_sets.get(key) if kind == DAEMON_SET else self.of(kind).get(key)

    def put(self, kind: str, controller: Controller) -> None:
        """Add or replace a controller of a kind other than DaemonSet. The kind is seen from now on."""
        self._seen.setdefault(kind, {})[controller.metadata.key] = controller

    def drop(self, kind: str, key: str) -> None:
        """Remove a controller."""
        if kind in self._seen:
            self._seen[kind].pop(key, None)
