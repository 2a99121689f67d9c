"""DaemonSets: one pod on every suitable node."""

from collections import Counter, defaultdict
from dataclasses import dataclass

from nodewright_fake.apiserver.document import dig
from nodewright_fake.apiserver.store import Change, Object, Store
from nodewright_fake.controllers import taints
from nodewright_fake.controllers.pods import Key, controller_of, is_finished, is_leaving, is_ready, key_of, node_of
from nodewright_fake.controllers.reconciler import MALFORMED, Reconciler
from nodewright_fake.controllers.scheduling.needs import Needs, read_needs
from nodewright_fake.controllers.selectors import labels_of
from nodewright_fake.controllers.taints import is_covered, read_taint
from nodewright_fake.controllers.workloads.status import observed, portion
from nodewright_fake.controllers.workloads.templates import new_pod, owner_reference, template_hash

RESOURCE = "daemonsets.apps"
HASH = "controller-revision-hash"
_TOLERATED = (
    (taints.NOT_READY, "NoExecute"),
    (taints.UNREACHABLE, "NoExecute"),
    (taints.DISK_PRESSURE, "NoSchedule"),
    (taints.MEMORY_PRESSURE, "NoSchedule"),
    (taints.PID_PRESSURE, "NoSchedule"),
    (taints.UNSCHEDULABLE, "NoSchedule"),
)
#: Namespace and name of a DaemonSet and the name of a node; without a node the key stands for the set as a whole.
Place = tuple[str, str, str]


@dataclass(frozen=True)
class _Daemon:
    """How a DaemonSet fares on one node."""

    wanted: bool = False
    present: bool = False
    ready: bool = False
    updated: bool = False


class DaemonSets(Reconciler[Place]):
    """Looks at one pair of DaemonSet and node at a time, so that a new node costs the same in any cluster."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._sets: dict[Key, str] = {}
        self._needs: dict[str, tuple[str, Needs]] = {}
        self._pods: defaultdict[tuple[str, str], dict[Key, None]] = defaultdict(dict)
        self._daemons: defaultdict[str, dict[str, _Daemon]] = defaultdict(dict)
        self._counts: defaultdict[str, Counter[_Daemon]] = defaultdict(Counter)

    def observe(self, change: Change) -> None:
        """Note the pairs that a change concerns."""
        if change.resource == RESOURCE:
            self._observe_set(change)
        elif change.resource == "nodes":
            if change.type != "MODIFIED" or change.before is None or _face(change.object) != _face(change.before):
                for namespace, name in self._sets:
                    self._touched.add((namespace, name, change.object["metadata"]["name"]))
        elif change.resource == "pods":
            self._observe_pod(change)

    def _observe_set(self, change: Change) -> None:
        key, uid = key_of(change.object), change.object["metadata"]["uid"]
        if change.type == "DELETED":
            self._sets.pop(key, None)
            for known in (self._needs, self._daemons, self._counts):
                known.pop(uid, None)
            return
        self._sets[key] = uid
        self._touched.add((*key, ""))
        if change.before is None or change.before["spec"] != change.object["spec"]:
            for node in self.store.list("nodes"):
                self._touched.add((*key, node["metadata"]["name"]))

    def _observe_pod(self, change: Change) -> None:
        pod = change.object
        owner = controller_of(pod)
        if owner is None or owner.kind != "DaemonSet":
            return
        node = _target(pod)
        if change.type == "DELETED":
            self._pods[owner.uid, node].pop(key_of(pod), None)
            if not self._pods[owner.uid, node]:
                del self._pods[owner.uid, node]
        else:
            self._pods[owner.uid, node][key_of(pod)] = None
        self._touched.add((key_of(pod)[0], owner.name, node))

    def sync(self, key: Place) -> None:
        """Bring one pair into line, or the set as a whole: its update and its status."""
        namespace, name, node_name = key
        found = self.store.find(RESOURCE, name, namespace)
        if found is None or "deletionTimestamp" in found["metadata"]:
            return
        if not node_name:
            self._update_next(found)
            self._write_status(found)
            return
        uid = found["metadata"]["uid"]
        daemon = self._sync_node(found, node_name)
        known = self._daemons[uid].get(node_name)
        if daemon == known:
            return
        if known is not None:
            self._counts[uid][known] -= 1
        self._daemons[uid][node_name] = daemon
        self._counts[uid][daemon] += 1
        if not daemon.wanted and not daemon.present:
            del self._daemons[uid][node_name]
        self.touch((namespace, name, ""))

    def _sync_node(self, found: Object, node_name: str) -> _Daemon:
        uid = found["metadata"]["uid"]
        node = self.store.find("nodes", node_name)
        wanted, may_stay = self._suits(found, node) if node is not None else (False, False)
        staying = [pod for pod in self._pods_at(uid, node_name) if not is_leaving(pod)]
        kept = next((pod for pod in staying if may_stay and not is_finished(pod)), None)
        for pod in staying:
            if pod is not kept:
                self._delete(pod)
        if kept is None and wanted and not self._pods_at(uid, node_name):
            kept = self._create(found, node_name)
        if kept is None:
            return _Daemon(wanted=wanted)
        updated = labels_of(kept).get(HASH) == template_hash(found["spec"].get("template") or {})
        return _Daemon(wanted=wanted, present=True, ready=is_ready(kept), updated=updated)

    def _suits(self, found: Object, node: Object) -> tuple[bool, bool]:
        """Return whether a pod should start on *node*, and whether one that is there may stay."""
        needs = self._needs_of(found)
        if not needs.select(node["metadata"]["name"], labels_of(node)):
            return False, False
        untolerated = {
            taint.effect
            for taint in map(read_taint, (node.get("spec") or {}).get("taints") or ())
            if not is_covered(taint, needs.tolerations)
        }
        may_stay = "NoExecute" not in untolerated
        return may_stay and "NoSchedule" not in untolerated, may_stay

    def _needs_of(self, found: Object) -> Needs:
        uid = found["metadata"]["uid"]
        template = found["spec"].get("template") or {}
        label = template_hash(template)
        known = self._needs.get(uid)
        if known is None or known[0] != label:
            known = self._needs[uid] = (label, read_needs(_tolerant(template.get("spec") or {})))
        return known[1]

    def _pods_at(self, uid: str, node_name: str) -> list[Object]:
        found = (self.store.find("pods", name, namespace) for namespace, name in self._pods.get((uid, node_name), ()))
        return [pod for pod in found if pod is not None]

    def _create(self, found: Object, node_name: str) -> Object:
        template = found["spec"].get("template") or {}
        pod = new_pod(found, owner_reference(found, "apps/v1", "DaemonSet"), template)
        pod["metadata"]["labels"][HASH] = template_hash(template)
        spec = pod["spec"] = _tolerant(pod["spec"])
        affinity = spec.get("affinity") or {}
        line = {"key": "metadata.name", "operator": "In", "values": [node_name]}
        only = {"nodeSelectorTerms": [{"matchFields": [line]}]}
        node_affinity = {
            **(affinity.get("nodeAffinity") or {}),
            "requiredDuringSchedulingIgnoredDuringExecution": only,
        }
        spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}
        return self.store.create("pods", pod)

    def _delete(self, pod: Object) -> None:
        namespace, name = key_of(pod)
        self.store.delete("pods", name, namespace)

    def _update_next(self, found: Object) -> None:
        """Replace pods of an older template, as many at a time as may be unavailable."""
        uid = found["metadata"]["uid"]
        strategy = found["spec"].get("updateStrategy") or {}
        counts = self._counts[uid]
        if strategy.get("type") == "OnDelete" or not any(
            count and daemon.present and not daemon.updated for daemon, count in counts.items()
        ):
            return
        wanted = sum(count for daemon, count in counts.items() if daemon.wanted)
        missing = sum(count for daemon, count in counts.items() if daemon.wanted and not daemon.ready)
        stated = (strategy.get("rollingUpdate") or {}).get("maxUnavailable", 1)
        allowed = max(1, portion(stated, wanted, round_up=True)) - missing
        for node_name, daemon in tuple(self._daemons[uid].items()):
            if not daemon.present or daemon.updated or (daemon.ready and allowed <= 0):
                continue
            allowed -= daemon.ready
            for pod in self._pods_at(uid, node_name):
                self._delete(pod)

    def _write_status(self, found: Object) -> None:
        counts = self._counts[found["metadata"]["uid"]]

        def number(**states: bool) -> int:
            return sum(
                count
                for daemon, count in counts.items()
                if all(getattr(daemon, name) == state for name, state in states.items())
            )

        ready = number(wanted=True, ready=True)
        status = observed(
            found,
            desiredNumberScheduled=number(wanted=True),
            currentNumberScheduled=number(wanted=True, present=True),
            numberMisscheduled=number(wanted=False, present=True),
            updatedNumberScheduled=number(wanted=True, present=True, updated=True),
            numberReady=ready,
            numberAvailable=ready,
            numberUnavailable=number(wanted=True, ready=False),
        )
        self.store.update(RESOURCE, {**found, "status": status})


def _tolerant(spec: Object) -> Object:
    """Return *spec* with the tolerations that all DaemonSet pods have."""
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in _TOLERATED]
    if spec.get("hostNetwork"):
        added.append({"key": taints.NETWORK_UNAVAILABLE, "operator": "Exists", "effect": "NoSchedule"})
    names = {(entry["key"], entry["effect"]) for entry in added}
    stated = [
        toleration
        for toleration in spec.get("tolerations") or ()
        if (toleration.get("key"), toleration.get("effect")) not in names
    ]
    return {**spec, "tolerations": [*stated, *added]}


def _target(pod: Object) -> str:
    """Return the name of the node that a DaemonSet made *pod* for."""
    if node := node_of(pod):
        return node
    required = dig(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution")
    try:
        return str(required["nodeSelectorTerms"][0]["matchFields"][0]["values"][0])
    except MALFORMED:
        return ""


def _face(node: Object) -> tuple[object, object]:
    return node["metadata"].get("labels"), (node.get("spec") or {}).get("taints")
