"""How long tasks wait for nodes: all pods of one task carry a label with its name."""

from dataclasses import dataclass
from datetime import datetime

from nodewright_fake.apiserver.store import Change
from nodewright_fake.world import World


@dataclass(kw_only=True)
class PodWait:
    """How long one pod waited."""

    task: str
    since: datetime
    #: When it got a node, or was deleted without; None while it waits.
    until: datetime | None = None
    placed: bool = False
    #: When it was gone; None while it is there.
    gone: datetime | None = None

    def seconds(self, begin: datetime, end: datetime) -> float:
        """Return how much of that was between *begin* and *end*."""
        until = end if self.until is None else min(self.until, end)
        return max(0.0, (until - max(self.since, begin)).total_seconds())


class Waits:
    """Follows the pods of a world from before its start until `close`."""

    def __init__(self, world: World, label: str) -> None:
        #: Every pod that there ever was, by ``namespace/name``. Written under the store's lock.
        self.pods: dict[str, PodWait] = {}
        self._label = label
        self._clock = world.clock
        self.close = world.store.subscribe(self._observe)

    def of_tasks(self, begin: datetime, end: datetime) -> dict[str, float]:
        """Return the seconds that the pods of each task waited in total between *begin* and *end*."""
        waits: dict[str, float] = {}
        for pod in self.pods.values():
            waits[pod.task] = waits.get(pod.task, 0.0) + pod.seconds(begin, end)
        return waits

    def _observe(self, change: Change) -> None:
        metadata = change.object["metadata"]
        task = metadata.get("labels", {}).get(self._label)
        if change.resource != "pods" or task is None:
            return
        now = self._clock.now()
        pod = self.pods.setdefault(f"{metadata['namespace']}/{metadata['name']}", PodWait(task=task, since=now))
        if change.type == "DELETED":
            pod.gone = now
        pod.placed = pod.placed or bool(change.object["spec"].get("nodeName"))
        if pod.until is None and (pod.placed or pod.gone):
            pod.until = now
