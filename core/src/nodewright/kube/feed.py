"""The feed: changes that reflectors have seen and the loop has not taken up yet."""

import logging
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
    #: Keys of objects that are there, but could not be read.
    unread: set[str] = field(default_factory=set)

    def put(self, changed: Any) -> None:
        """Note an object that was added or changed, as the kind's reader returned it."""
        self._note(self.kind.key(changed), changed)

    def drop(self, key: str) -> None:
        """Note an object that is gone."""
        self._note(key, None)

    def leave(self, key: str) -> None:
        """Note an object that can't be read: what is known of it stays."""
        self.unread.add(key)

    def follow(self, later: "Batch") -> None:
        """Add the changes of a *later* batch."""
        for key, changed in later.changes.items():
            self._note(key, changed)
        self.unread |= later.unread

    def apply_to(self, cluster: Cluster) -> None:
        """Bring *cluster* up to date."""
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
        # The order is that of the last changes.
        self.changes.pop(key, None)
        self.changes[key] = changed


class Feed:
    """Filled by the reflectors' threads, emptied by the loop's thread.

    *on_unschedulable* and *on_nodes* are called on the reflectors' threads, as soon as a pod is seen that no node fits
    any more, or nodes.
    """

    def __init__(
        self,
        on_unschedulable: Callable[[], None] = lambda: None,
        on_nodes: Callable[[Iterable[Node]], None] = lambda nodes: None,
    ) -> None:
        self._changed = Condition()
        self._kinds = dict.fromkeys(kind.name for kind in KINDS)
        #: What is to be taken up, by kind.
        self._pending: dict[str, Batch] = {}
        self._versions: dict[str, int] = {}
        self._trouble: dict[str, str] = {}
        self._absent: set[str] = set()
        #: Those of them that the loop was not told of.
        self._missed: list[Kind] = []
        #: When each kind was last heard of.
        self._heard: dict[str, float] = {}
        #: Whatever the loop was woken for, and still is as it was then, by key.
        self._urgent: set[str] = set()
        self._on_unschedulable = on_unschedulable
        self._on_nodes = on_nodes

    def extend(self, batch: Batch) -> None:
        """Take in changes, or a whole list."""
        with self._changed:
            self._gather(batch)
            if batch.version.isdigit():
                self._versions[batch.kind.name] = int(batch.version)
                self._absent.discard(batch.kind.name)
            self._hear_of(batch.kind)
            # Whoever waits for this version finds the loop woken, too.
            if self._is_urgent(batch):
                self._on_unschedulable()
            self._changed.notify_all()
        if batch.kind.name == "nodes":
            self._on_nodes(node for node in batch.changes.values() if node is not None)

    def hear_of(self, kind: Kind) -> None:
        """Note that the API server answers for *kind*, even if it has no news."""
        with self._changed:
            self._hear_of(kind)

    def check_silence(self, longest: float) -> None:
        """Raise `ApiServerError` if a vital kind was not heard of for more than *longest* seconds."""
        now = monotonic()
        with self._changed:
            for kind in KINDS:
                silent = now - self._heard.get(kind.name, now)
                if kind.vital and silent > longest:
                    trouble = self._trouble.get(kind.name, "the API server is silent")
                    raise ApiServerError(f"{kind.name} were not heard of for {silent:.0f} s: {trouble}")

    def follow(self, kind: Kind) -> None:
        """Count on *kind*, too, when waiting: a reflector of it is about to start."""
        with self._changed:
            self._kinds[kind.name] = None

    def leave(self, kind: Kind) -> None:
        """Count on *kind* no longer: its reflector has ended. What was seen of it stays."""
        with self._changed:
            self._kinds.pop(kind.name, None)
            for seen in (self._versions, self._trouble, self._heard):
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
            self._missed.append(kind)
            self._changed.notify_all()

    def wait_until_synced(self, timeout: float) -> None:
        """Wait until every kind has been listed once, but for those that we do without.

        Raises `ApiServerError` that says which was not, and why, once nothing of those was heard of for *timeout*
        seconds: a large cluster takes its time.
        """
        self._wait(0, timeout, while_heard_of=True)

    def wait_for_version(self, version: int, timeout: float) -> None:
        """Wait until every kind that we watch was seen as of *version*; the API server has to send bookmarks."""
        self._wait(version, timeout, while_heard_of=False)

    def apply_to(self, cluster: Cluster) -> int:
        """Bring *cluster* up to date; returns how many objects changed. Malformed ones are logged and left out."""
        with self._changed:
            pending, self._pending = self._pending, {}
            missed, self._missed = self._missed, []
        for kind in missed:
            kind.note_absent(cluster)
        for batch in pending.values():
            batch.apply_to(cluster)
        return sum(len(batch.changes) for batch in pending.values())

    def _gather(self, batch: Batch) -> None:
        """Keep *batch* for the loop. What it has not taken up before is made one with it, or is out of date."""
        pending = self._pending.get(batch.kind.name)
        if batch.complete or (pending is None and batch.changes):
            self._pending[batch.kind.name] = batch
        elif pending is not None:
            pending.follow(batch)

    def _is_urgent(self, batch: Batch) -> bool:
        """Tell whether anything in *batch* has become urgent."""
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

    def _hear_of(self, kind: Kind) -> None:
        self._heard[kind.name] = monotonic()
        self._trouble.pop(kind.name, None)

    def _behind(self, version: int = 0) -> list[str]:
        watched = [name for name in self._kinds if name not in self._absent]
        return [name for name in watched if self._versions.get(name, -1) < version]

    def _wait(self, version: int, timeout: float, *, while_heard_of: bool) -> None:
        since = monotonic()
        with self._changed:
            while behind := self._behind(version):
                if while_heard_of:
                    since = max(since, *(self._heard.get(name, since) for name in behind))
                left = since + timeout - monotonic()
                if left <= 0:
                    never = self._behind()
                    stale = [name for name in behind if name not in never]
                    # Mostly it is the same with all of them.
                    causes = "; ".join(dict.fromkeys(self._trouble.values()))
                    raise ApiServerError(
                        f"not in step with the API server after {timeout:.0f} s"
                        + (f", never saw {', '.join(never)}" if never else "")
                        + (f", nothing new of {', '.join(stale)}" if stale else "")
                        + (f" ({causes})" if causes else "")
                    )
                self._changed.wait(left)


def _put(kind: Kind, cluster: Cluster, key: str, changed: Any) -> None:
    try:
        kind.put(cluster, changed)
    except ValueError as error:
        _log.error("%s %s is malformed and left out: %s", kind.name, key, error)
        kind.drop(cluster, key)
