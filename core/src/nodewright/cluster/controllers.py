"""Controllers of pods: that they are there, and how many pods they want."""

from collections.abc import Mapping, Set

from nodewright.objects import Controller, DaemonSet

DAEMON_SET = "DaemonSet"


class Controllers:
    """Controllers by their kind and key. Nothing is known of a kind before somebody says that it is seen.

    Of DaemonSets decisions read more, so they are kept elsewhere; here they are only found.
    """

    def __init__(self, daemon_sets: Mapping[str, DaemonSet]) -> None:
        self._daemon_sets = daemon_sets
        self._seen: dict[str, dict[str, Controller]] = {}

    @property
    def seen(self) -> Set[str]:
        """The kinds of which all are known."""
        return self._seen.keys()

    def see(self, kind: str) -> None:
        """Take it from now on that a controller of *kind* that is not here does not exist."""
        self._seen.setdefault(kind, {})

    def of(self, kind: str) -> Mapping[str, Controller]:
        """Return those of a kind other than DaemonSets, by key."""
        return self._seen.get(kind, {})

    def find(self, kind: str, key: str) -> Controller | DaemonSet | None:
        """Return one of a kind that is seen, if it is there."""
        return self._daemon_sets.get(key) if kind == DAEMON_SET else self.of(kind).get(key)

    def put(self, kind: str, controller: Controller) -> None:
        """Add or replace one of a kind other than DaemonSets, which is seen from now on."""
        self._seen.setdefault(kind, {})[controller.metadata.key] = controller

    def drop(self, kind: str, key: str) -> None:
        """Remove one."""
        if kind in self._seen:
            self._seen[kind].pop(key, None)
