"""The change feed: changes that reflectors have seen and the loop has not applied yet."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic
from typing import Any

from nodewright.api.errors import ApiServerError
from nodewright.cluster import Cluster
from nodewright.kube.kinds import KINDS, WatchedKind
from nodewright.objects import Node
from nodewright.objects.taint import PREFER_NO_SCHEDULE

_log = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Batch:
    """Changes of one kind that arrived together, in order."""

    kind: WatchedKind
    version: str = ""
    #: Whether these are all objects of the kind, so that any other is gone.
    complete: bool = False
    #: The last state of each added or changed object by key; None if it is gone.
    changes: dict[str, Any] = field(default_factory=dict)
    #: Keys of objects that exist but could not be read.
    unread: set[str] = field(default_factory=set)

    def put(self, changed: Any) -> None:
        """Note an added or changed object, as the kind's reader returned it."""
        self._note(self.kind.key(changed), changed)

    def drop(self, key: str) -> None:
        """Note an object that is gone."""
        self._note(key, None)

    def keep(self, key: str) -> None:
        """Note an object that can't be read, so that its known state stays."""
        self.unread.add(key)

    def merge(self, later: "Batch") -> None:
        """Add the changes of a *later* batch."""
        for key, changed in later.changes.items():
            self._note(key, changed)
        self.unread |= later.unread

    def apply_to(self, cluster: Cluster) -> None:
        """Apply the changes to *cluster*."""
        kind = self.kind
        if self.complete:
            for key in kind.known(cluster):
                if key not in self.changes and key not in self.unread:
                    kind.drop(cluster, key)
        for key, changed in self.changes.items():
            if changed is None:
                kind.drop(cluster, key)
            else:
                _put(kind, cluster, key, changed)
        if self.complete:
            kind.note_complete(cluster)

    def _note(self, key: str, changed: Any) -> None:
        # Ordered by last change.
        self.changes.pop(key, None)
        self.changes[key] = changed


class Feed:
    """Filled by the reflectors' threads, emptied by the loop's thread.

    *on_news* is called as soon as a pod becomes unschedulable, as soon as a node changes while nodes are awaited, and
    if there is news after a silence that was too long to decide; *on_nodes* with all nodes that arrive. Both are called
    on the reflectors' threads.
    """

    def __init__(
        self,
        on_news: Callable[[], None] = lambda: None,
        on_nodes: Callable[[Iterable[Node]], None] = lambda nodes: None,
    ) -> None:
        self._changed = Condition()
        #: Kinds that are waited for, each as it is read now.
        self._kinds = {kind.name: kind for kind in KINDS}
        #: Changes to apply, by kind.
        self._pending: dict[str, Batch] = {}
        self._versions: dict[str, int] = {}
        self._trouble: dict[str, str] = {}
        self._absent: set[str] = set()
        #: Absent kinds of which the cluster does not know yet.
        self._newly_absent: list[WatchedKind] = []
        #: When each kind was last known to be as the API server has it, and when the API server last answered for it.
        self._contact: dict[str, float] = {}
        self._progress: dict[str, float] = {}
        #: Whether the loop was told to wait for news.
        self._blind = False
        #: Keys of the objects for which the loop was woken and which are still urgent.
        self._urgent: set[str] = set()
        #: What pods could see last of each node, by name.
        self._faces: dict[str, object] = {}
        #: Whether any of that has changed since changes were applied.
        self._nodes_changed = False
        self._nodes_awaited = False
        self._on_news = on_news
        self._on_nodes = on_nodes

    def extend(self, batch: Batch) -> None:
        """Add changes, or a whole list. Ignored if the kind is read in another way by now."""
        with self._changed:
            if self._kinds.get(batch.kind.name, batch.kind) is not batch.kind:
                return
            self._gather(batch)
            if batch.version.isdigit():
                self._versions[batch.kind.name] = int(batch.version)
                self._absent.discard(batch.kind.name)
            self._note_contact(batch.kind)
            # Under the lock, so that a thread waiting for this version finds the loop woken.
            urgent, changed = self._is_urgent(batch), self._changes_nodes(batch)
            seeing = self._blind and batch.kind.vital
            self._blind = self._blind and not seeing
            if urgent or seeing or (changed and self._nodes_awaited):
                self._on_news()
            self._changed.notify_all()
        if batch.kind.name == "nodes":
            self._on_nodes(node for node in batch.changes.values() if node is not None)

    def note_contact(self, kind: WatchedKind) -> None:
        """Note that *kind* is as the API server has it, with or without changes."""
        with self._changed:
            self._note_contact(kind)

    def note_progress(self, kind: WatchedKind) -> None:
        """Note that the API server answers for *kind*, of which not everything was read yet."""
        with self._changed:
            self._progress[kind.name] = monotonic()
            self._trouble.pop(kind.name, None)

    def check_silence(self, longest: float) -> None:
        """Raise `ApiServerError` if the API server has not answered for a vital kind for over *longest* seconds."""
        now = monotonic()
        with self._changed:
            for kind in self._kinds.values():
                silent = now - self._contact.get(kind.name, now)
                if kind.vital and silent > longest:
                    self._blind = True
                    trouble = self._trouble.get(kind.name, "the API server is silent")
                    raise ApiServerError(f"no news of {kind.name} for {silent:.0f} s: {trouble}")

    def check_listed(self) -> None:
        """Raise `ApiServerError` if a vital kind was not listed since it was added."""
        with self._changed:
            for name in self._behind():
                if self._kinds[name].vital:
                    trouble = self._trouble.get(name, "that takes a while in a large cluster")
                    raise ApiServerError(f"the {name} are read anew, and not all were read yet: {trouble}")

    def add_kind(self, kind: WatchedKind) -> None:
        """Wait for *kind*, too, from now on: its reflector is about to start."""
        with self._changed:
            self._kinds[kind.name] = kind
            self._versions.pop(kind.name, None)

    def remove_kind(self, kind: str) -> None:
        """Stop waiting for *kind*: its reflector has ended. Its objects stay in the cluster."""
        with self._changed:
            self._kinds.pop(kind, None)
            for seen in (self._versions, self._trouble, self._contact, self._progress):
                seen.pop(kind, None)
            self._absent.discard(kind)
            self._changed.notify_all()

    def note_trouble(self, kind: str, error: str) -> None:
        """Note why a kind can't be watched at the moment."""
        with self._changed:
            self._trouble[kind] = error
            self._changed.notify_all()

    def troubles(self) -> dict[str, str]:
        """Return why each kind can't be watched at the moment; empty for those that can."""
        with self._changed:
            return {kind: self._trouble.get(kind, "") for kind in self._kinds}

    def note_absent(self, kind: WatchedKind) -> None:
        """Stop waiting for a kind that the API server does not let us list; its objects count once it does."""
        with self._changed:
            self._absent.add(kind.name)
            self._newly_absent.append(kind)
            self._changed.notify_all()

    def wait_until_synced(self, timeout: float) -> None:
        """Wait until every kind but the absent ones has been listed once.

        A large cluster takes long, so *timeout* counts from the last sign of progress. Then `ApiServerError` says which
        kinds were not listed, and why.
        """
        self._wait(0, timeout, from_contact=True)

    def wait_for_version(self, version: int, timeout: float) -> None:
        """Wait until every watched kind has reached *version*; the API server must send bookmarks."""
        self._wait(version, timeout, from_contact=False)

    def apply_to(self, cluster: Cluster) -> int:
        """Apply all changes to *cluster* and return how many objects changed. Malformed ones are logged and dropped."""
        with self._changed:
            pending, self._pending = self._pending, {}
            self._nodes_changed = False
            newly_absent, self._newly_absent = self._newly_absent, []
        for kind in newly_absent:
            kind.note_absent(cluster)
        for batch in pending.values():
            batch.apply_to(cluster)
        return sum(len(batch.changes) for batch in pending.values())

    def await_nodes(self, awaited: bool) -> None:
        """Say whether nodes are awaited: whether pods count on any as they were when changes were last applied."""
        with self._changed:
            self._nodes_awaited = awaited
            if awaited and self._nodes_changed:
                self._on_news()

    def _gather(self, batch: Batch) -> None:
        """Keep *batch* for the loop: merge it into pending changes, or replace them if it is complete."""
        pending = self._pending.get(batch.kind.name)
        if batch.complete or (pending is None and batch.changes):
            self._pending[batch.kind.name] = batch
        elif pending is not None:
            pending.merge(batch)

    def _is_urgent(self, batch: Batch) -> bool:
        """Return whether an object in *batch* has become urgent."""
        if batch.kind.urgent is None:
            return False
        if batch.complete:
            self._urgent &= batch.changes.keys()
        fresh = False
        for key, changed in batch.changes.items():
            if changed is None or not batch.kind.urgent(changed):
                self._urgent.discard(key)
            elif key not in self._urgent:
                self._urgent.add(key)
                fresh = True
        return fresh

    def _changes_nodes(self, batch: Batch) -> bool:
        """Return whether pods that count on a node see a change in *batch*."""
        if batch.kind.name != "nodes":
            return False
        seen = {name: None if node is None else _face(node) for name, node in batch.changes.items()}
        if batch.complete:
            seen |= dict.fromkeys(self._faces.keys() - seen.keys() - batch.unread)
        fresh = [name for name, face in seen.items() if face != self._faces.get(name)]
        for name in fresh:
            if seen[name] is None:
                del self._faces[name]
            else:
                self._faces[name] = seen[name]
        self._nodes_changed = self._nodes_changed or bool(fresh)
        return bool(fresh)

    def _note_contact(self, kind: WatchedKind) -> None:
        self._contact[kind.name] = self._progress[kind.name] = monotonic()
        self._trouble.pop(kind.name, None)

    def _behind(self, version: int = 0) -> list[str]:
        watched = [name for name in self._kinds if name not in self._absent]
        return [name for name in watched if self._versions.get(name, -1) < version]

    def _wait(self, version: int, timeout: float, *, from_contact: bool) -> None:
        since = monotonic()
        with self._changed:
            while behind := self._behind(version):
                if from_contact:
                    since = max(since, *(self._progress.get(name, since) for name in behind))
                left = since + timeout - monotonic()
                if left <= 0:
                    never = self._behind()
                    stale = [name for name in behind if name not in never]
                    # Mostly all kinds have the same cause.
                    causes = "; ".join(dict.fromkeys(self._trouble.values()))
                    raise ApiServerError(
                        f"not in sync with the API server after {timeout:.0f} s"
                        + (f", never listed {', '.join(never)}" if never else "")
                        + (f", nothing new of {', '.join(stale)}" if stale else "")
                        + (f" ({causes})" if causes else "")
                    )
                self._changed.wait(left)


def _face(node: Node) -> tuple[object, ...]:
    """Return what a pod that looks for a place can see of *node*: heartbeats and soft taints are not among that."""
    taints = [taint for taint in node.spec.taints if taint.effect != PREFER_NO_SCHEDULE]
    return node.ready, node.spec.unschedulable, taints, node.metadata.labels, node.status.allocatable


def _put(kind: WatchedKind, cluster: Cluster, key: str, changed: Any) -> None:
    try:
        kind.put(cluster, changed)
    except ValueError as error:
        _log.error("%s %s is malformed and ignored: %s", kind.name, key, error)
        kind.drop(cluster, key)
