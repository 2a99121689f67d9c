"""NoExecute taints: pods that do not tolerate one have to go, at once or after a while."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.document import dig
from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers.pods import Key, PodIndex, is_active, key_of, node_of
from nodewright_fake.controllers.reconciler import Reconciler
from nodewright_fake.controllers.taints import (
    NOT_READY,
    UNREACHABLE,
    NodeTaint,
    PodToleration,
    is_covered,
    read_taint,
    read_toleration,
)

#: As the API server's admission would add it to pods that say nothing of these taints.
_ADDED = tuple(PodToleration(key, True, "", "NoExecute", 300) for key in (NOT_READY, UNREACHABLE))


@dataclass(frozen=True)
class _Notice:
    """When a pod has to go, and because of what."""

    uid: str
    taints: tuple[NodeTaint, ...]
    due: datetime


class TaintEviction(Reconciler[Key]):
    """Deletes pods from nodes with NoExecute taints when the time that they tolerate is over."""

    def __init__(self, store: Store, agenda: Agenda, pods: PodIndex) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._pods = pods
        self._notices: dict[Key, _Notice] = {}

    def observe(self, change: Change) -> None:
        """Note a pod that came to a node, and all pods of a node whose taints changed."""
        if change.resource == "nodes" and change.type != "DELETED":
            before = dig(change.before, "spec.taints") if change.before is not None else None
            if dig(change.object, "spec.taints") != before:
                for pod in self._pods.on_node(change.object["metadata"]["name"]):
                    self._touched.add(key_of(pod))
        elif change.resource == "pods" and (
            change.type == "DELETED" or change.before is None or node_of(change.before) != node_of(change.object)
        ):
            self._touched.add(key_of(change.object))

    def sync(self, key: Key) -> None:
        """Delete the pod if its time is over; otherwise look again when it is."""
        pod = self.store.find("pods", key[1], key[0])
        node = self.store.find("nodes", node_of(pod)) if pod is not None else None
        taints = _taints(node) if node is not None else ()
        if pod is None or not taints or not is_active(pod):
            self._notices.pop(key, None)
            return
        seconds = _tolerated_seconds(pod, taints)
        if seconds is None:
            self._notices.pop(key, None)
            return
        now = self.store.clock.now()
        notice = self._notices.get(key)
        if notice is None or (notice.uid, notice.taints) != (pod["metadata"]["uid"], taints):
            due = now + timedelta(seconds=seconds)
            notice = self._notices[key] = _Notice(pod["metadata"]["uid"], taints, due)
            if due > now:
                self._agenda.at(due, lambda: self.touch(key))
        if now >= notice.due:
            self.store.delete("pods", key[1], key[0])


def _taints(node: Object) -> tuple[NodeTaint, ...]:
    taints = (read_taint(taint) for taint in (node.get("spec") or {}).get("taints") or ())
    return tuple(taint for taint in taints if taint.effect == "NoExecute")


def _tolerated_seconds(pod: Object, taints: tuple[NodeTaint, ...]) -> float | None:
    """Return how long *pod* may stay with *taints*; None for ever."""
    stated = [read_toleration(toleration) for toleration in pod["spec"].get("tolerations") or ()]
    limits = []
    for taint in taints:
        covering = [toleration for toleration in stated if toleration.covers(taint)]
        if not covering and is_covered(taint, _ADDED):
            covering = [toleration for toleration in _ADDED if toleration.covers(taint)]
        if not covering:
            return 0
        limits += [toleration.seconds for toleration in covering if toleration.seconds is not None]
    return min(limits, default=None)
