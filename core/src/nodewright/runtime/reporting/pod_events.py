"""Events on pods: what was done for one, or to it, and why nothing can be done."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nsmallest

from nodewright.cluster import Cluster
from nodewright.kube.events import EventWriter

#: A pod that waits is told why once in this time.
_PAUSE = timedelta(minutes=5)
#: How many pods to which something happened may wait for their turn.
_WAITING = 50_000


@dataclass(frozen=True, kw_only=True)
class _Item:
    uid: str
    reason: str
    message: str
    warning: bool = False


class PodEvents:
    """Writes the latest about each pod, while the writer has room for events on pods. The others have their turn later.

    What happened comes first, in order. Then come pods that wait in vain: first those without an event so far, one of
    each controller before the next of any, then those whose event is oldest. Pods that are gone get no event. For the
    loop's thread.
    """

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._happened: dict[str, _Item] = {}
        #: When each pod that waits in vain last had an event.
        self._written: dict[str, datetime] = {}

    def happened(self, key: str, uid: str, reason: str, message: str, *, warning: bool = False) -> None:
        """Note what was done for the pod *key*, or to it. This replaces what was noted of it before."""
        if key in self._happened or len(self._happened) < _WAITING:
            self._happened[key] = _Item(uid=uid, reason=reason, message=message, warning=warning)

    def deliver(self) -> None:
        """Write what happened, while there is room."""
        room = self._events.room
        for key in list(self._happened)[:room]:
            item = self._happened.pop(key)
            self._events.on_pod(key, item.uid, item.reason, item.message, warning=item.warning)

    def write(self, unhelped: Iterable[str], why: Callable[[str], str], cluster: Cluster, now: datetime) -> None:
        """Write what happened and is not written yet; then, on *unhelped* pods, *why* nothing helps them."""
        self._happened = {
            key: item for key, item in self._happened.items() if (pod := cluster.pods.get(key)) and pod.uid == item.uid
        }
        self.deliver()
        if self._events.room <= 0:
            return
        keys = [key for key in unhelped if key in cluster.pods]
        self._written = {key: at for key in keys if (at := self._written.get(key)) is not None and at <= now}
        for key in self._next(keys, cluster, now):
            if self._events.on_pod(key, cluster.pods[key].uid, "NotTriggerScaleUp", why(key)):
                self._written[key] = now

    def _next(self, keys: list[str], cluster: Cluster, now: datetime) -> list[str]:
        """Return those of *keys* whose turn it is."""
        before: Counter[str] = Counter()
        turns: list[tuple[float, int, int, str]] = []
        for number, key in enumerate(keys):
            last = self._written.get(key)
            if key in self._happened or (last is not None and now - last < _PAUSE):
                continue
            owner = cluster.pods[key].owner
            kind = owner.uid if owner else key
            turns.append((0.0 if last is None else last.timestamp(), before[kind], number, key))
            before[kind] += 1
        return [key for *_, key in nsmallest(self._events.room, turns)]
