"""How long pods wait for a node."""

from datetime import datetime

from nodewright.api import Pod


class Waits:
    """Kept up with change by change. Pods of DaemonSets are left out: they come with their node."""

    def __init__(self) -> None:
        #: When each pod that has no node came to be, by key.
        self.pending: dict[str, datetime] = {}
        #: How long the others had to wait, in seconds; without those that found a node at once.
        self.over: list[float] = []
        #: Pods that found a node at once.
        self.at_once = 0
        self._waited: set[str] = set()
        self._seen: set[str] = set()

    def see(self, pod: Pod, now: datetime) -> None:
        """Take in a new pod, or a new state of one."""
        if pod.is_daemon:
            return
        if pod.key not in self._seen:
            self._seen.add(pod.key)
            self.pending[pod.key] = now
        if pod.marked_unschedulable:
            self._waited.add(pod.key)
        if pod.spec.node_name or pod.finished:
            self._end(pod.key, now)

    def forget(self, key: str) -> None:
        """A pod is gone; one that had no node until then waits no longer, and is not counted."""
        self.pending.pop(key, None)
        self._waited.discard(key)
        self._seen.discard(key)

    def _end(self, key: str, now: datetime) -> None:
        since = self.pending.pop(key, None)
        if since is None:
            return
        if key in self._waited:
            self.over.append((now - since).total_seconds())
        else:
            self.at_once += 1
