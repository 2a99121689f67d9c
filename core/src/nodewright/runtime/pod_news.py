"""News of pods: events that tell what was done for a pod, or to it, and why nothing can be."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nsmallest

from nodewright.cluster import Cluster
from nodewright.kube.events import EventWriter

#: The same is told of a pod that waits once in this time.
_PAUSE = timedelta(minutes=5)
#: So much of what happened to pods may wait for its turn.
_WAITING = 50_000


@dataclass(frozen=True, kw_only=True)
class _Item:
    uid: str
    reason: str
    message: str
    warning: bool = False


class PodNews:
    """Tells of each pod the latest, as far as there is room for events about pods; the others have their turn later.

    What happened comes first, in order. Then come pods that wait in vain: those of which nobody was told, first one of
    each controller, and then those that were told longest ago. Of pods that are gone nothing is told. For the loop's
    thread.
    """

    def __init__(self, events: EventWriter) -> None:
        self._events = events
        self._happened: dict[str, _Item] = {}
        #: When each pod that waits in vain was last told of.
        self._told: dict[str, datetime] = {}

    def happened(self, key: str, uid: str, reason: str, message: str, *, warning: bool = False) -> None:
        """Note what was done for the pod *key*, or to it; of what was noted before nobody needs to hear any more."""
        if key in self._happened or len(self._happened) < _WAITING:
            self._happened[key] = _Item(uid=uid, reason=reason, message=message, warning=warning)

    def deliver(self) -> None:
        """Tell what happened, as far as there is room."""
        room = self._events.room
        for key in list(self._happened)[:room]:
            item = self._happened.pop(key)
            self._events.on_pod(key, item.uid, item.reason, item.message, warning=item.warning)

    def tell(self, unhelped: Iterable[str], why: Callable[[str], str], cluster: Cluster, now: datetime) -> None:
        """Tell what is left to tell, and of the *unhelped* pods *why* they are."""
        self._happened = {
            key: item for key, item in self._happened.items() if (pod := cluster.pods.get(key)) and pod.uid == item.uid
        }
        self.deliver()
        if self._events.room <= 0:
            return
        keys = [key for key in unhelped if key in cluster.pods]
        self._told = {key: at for key in keys if (at := self._told.get(key)) is not None and at <= now}
        for key in self._next(keys, cluster, now):
            if self._events.on_pod(key, cluster.pods[key].uid, "NotTriggerScaleUp", why(key)):
                self._told[key] = now

    def _next(self, keys: list[str], cluster: Cluster, now: datetime) -> list[str]:
        """Return those of *keys* that have their turn."""
        before: Counter[str] = Counter()
        turns: list[tuple[float, int, int, str]] = []
        for number, key in enumerate(keys):
            last = self._told.get(key)
            if key in self._happened or (last is not None and now - last < _PAUSE):
                continue
            owner = cluster.pods[key].owner
            kind = owner.uid if owner else key
            turns.append((0.0 if last is None else last.timestamp(), before[kind], number, key))
            before[kind] += 1
        return [key for *_, key in nsmallest(self._events.room, turns)]
