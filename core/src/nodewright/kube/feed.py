"""The feed: changes that reflectors have seen and the loop has not taken up yet."""

import logging
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Any

from nodewright.api.errors import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube.kinds import KINDS, Kind
from nodewright.objects import Node

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Batch:
    """Changes of one kind that came together, in order."""

    kind: Kind
    version: str = ""
    #: The objects are all there are: whatever is not among them is gone.
    complete: bool = False
    #: What came or changed, by key; None for what is gone. Of one object only the last counts.
    changes: dict[str, Any] = field(default_factory=dict)

    def put(self, changed: Any) -> None:
        """Note an object that was added or changed, as the kind's reader returned it."""
        self._note(self.kind.key(changed), changed)

    def drop(self, key: str) -> None:
        """Note an object that is gone."""
        self._note(key, None)

    def _note(self, key: str, changed: Any) -> None:
        # The order is that of the last changes.
        self.changes.pop(key, None)
        self.changes[key] = changed


class Feed:
    """Filled by the reflectors' threads, emptied by the loop's thread.

    *on_unschedulable* and *on_nodes* are called on the reflectors' threads, as soon as a pod that no node fits, or
    nodes, are seen.
    """

    def __init__(
        self,
        on_unschedulable: Callable[[], None] = lambda: None,
        on_nodes: Callable[[Iterable[Node]], None] = lambda nodes: None,
    ) -> None:
        self._changed = Condition()
        self._kinds = dict.fromkeys(kind.name for kind in KINDS)
        self._batches: deque[Batch] = deque()
        self._versions: dict[str, int] = {}
        self._trouble: dict[str, str] = {}
        self._absent: set[str] = set()
        self._on_unschedulable = on_unschedulable
        self._on_nodes = on_nodes

    def extend(self, batch: Batch) -> None:
        """Take in changes, or a whole list."""
        urgent = any(batch.kind.urgent(changed) for changed in batch.changes.values() if changed is not None)
        with self._changed:
            if batch.changes or batch.complete:
                self._batches.append(batch)
            if batch.version.isdigit():
                self._versions[batch.kind.name] = int(batch.version)
                self._absent.discard(batch.kind.name)
            self._trouble.pop(batch.kind.name, None)
            # Whoever waits for this version finds the loop woken, too.
            if urgent:
                self._on_unschedulable()
            self._changed.notify_all()
        if batch.kind.name == "nodes":
            self._on_nodes(node for node in batch.changes.values() if node is not None)

    def follow(self, kind: Kind) -> None:
        """Count on *kind*, too, when waiting: a reflector of it is about to start."""
        with self._changed:
            self._kinds[kind.name] = None

    def leave(self, kind: Kind) -> None:
        """Count on *kind* no longer: its reflector has ended. What was seen of it stays."""
        with self._changed:
            self._kinds.pop(kind.name, None)
            for seen in (self._versions, self._trouble):
                seen.pop(kind.name, None)
            self._absent.discard(kind.name)
            self._changed.notify_all()

    def note_trouble(self, kind: str, error: str) -> None:
        """Remember why a kind can't be kept up with."""
        with self._changed:
            self._trouble[kind] = error
            self._changed.notify_all()

    def troubles(self) -> dict[str, str]:
        """Return why each kind that is watched can't be kept up with at the moment; empty for those that can."""
        with self._changed:
            return {kind: self._trouble.get(kind, "") for kind in self._kinds}

    def do_without(self, kind: Kind) -> None:
        """Wait no longer for a kind that the API server does not show us; once it does, it is taken in as any."""
        with self._changed:
            self._absent.add(kind.name)
            self._changed.notify_all()

    def wait_until_synced(self, timeout: float) -> None:
        """Wait until every kind has been listed once, but for those that we do without.

        Raises `ApiServerError` that says which was not, and why.
        """
        self._wait(lambda: not self._behind(), timeout)

    def wait_for_version(self, version: int, timeout: float) -> None:
        """Wait until every kind that we watch was seen as of *version*; the API server has to send bookmarks."""
        self._wait(lambda: not self._behind(version), timeout)

    def apply_to(self, cluster: Cluster) -> int:
        """Bring *cluster* up to date; returns how many objects changed. Malformed ones are logged and left out."""
        with self._changed:
            batches, self._batches = self._batches, deque()
        count = 0
        for batch in batches:
            count += len(batch.changes)
            if batch.complete:
                for key in batch.kind.known(cluster):
                    if key not in batch.changes:
                        batch.kind.drop(cluster, key)
            for key, changed in batch.changes.items():
                if changed is None:
                    batch.kind.drop(cluster, key)
                else:
                    _put(batch.kind, cluster, key, changed)
            if batch.complete:
                batch.kind.note_complete(cluster)
        return count

    def _behind(self, version: int = 0) -> list[str]:
        watched = [name for name in self._kinds if name not in self._absent]
        return [name for name in watched if self._versions.get(name, -1) < version]

    def _wait(self, done: Callable[[], bool], timeout: float) -> None:
        until = monotonic() + timeout
        with self._changed:
            while not done():
                left = until - monotonic()
                if left <= 0:
                    behind = self._behind()
                    causes = "; ".join(f"{kind}: {error}" for kind, error in self._trouble.items())
                    raise ApiServerError(
                        f"not in step with the API server after {timeout:.0f} s"
                        + (f", never saw {', '.join(behind)}" if behind else "")
                        + (f" ({causes})" if causes else "")
                    )
                self._changed.wait(left)


def _put(kind: Kind, cluster: Cluster, key: str, changed: Any) -> None:
    try:
        kind.put(cluster, changed)
    except ValueError as error:
        _log.error("%s %s is malformed and left out: %s", kind.name, key, error)
        kind.drop(cluster, key)
