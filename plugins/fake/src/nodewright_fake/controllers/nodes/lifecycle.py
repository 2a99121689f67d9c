"""Taints that follow from the state of a node: cordoned, not ready, unreachable, under pressure."""

from datetime import datetime, timedelta

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.store import Change, Object, Store, timestamp
from nodewright_fake.controllers import taints
from nodewright_fake.controllers.reconciler import Reconciler

_BY_CONDITION = {
    ("Ready", "False"): taints.NOT_READY,
    ("Ready", "Unknown"): taints.UNREACHABLE,
    ("DiskPressure", "True"): taints.DISK_PRESSURE,
    ("MemoryPressure", "True"): taints.MEMORY_PRESSURE,
    ("PIDPressure", "True"): taints.PID_PRESSURE,
    ("NetworkUnavailable", "True"): taints.NETWORK_UNAVAILABLE,
}
_EVICTING = (taints.NOT_READY, taints.UNREACHABLE)
#: How often nodes are looked at for what evicts pods, as in kube-controller-manager unless it is told otherwise.
MONITOR_PERIOD = 5.0


class NodeLifecycle(Reconciler[str]):
    """Keeps those taints, and leaves all others alone. A node without any conditions keeps what it has.

    NoSchedule taints follow at once. NoExecute taints come and go when all nodes are looked at, every *period* seconds
    since the beginning; so a node may be ready, and have pods, while the last of its taints is still there.
    """

    def __init__(self, store: Store, agenda: Agenda, period: float = MONITOR_PERIOD) -> None:
        super().__init__(store)
        self._agenda = agenda
        self._period = timedelta(seconds=period)
        self._began = store.clock.now()
        #: When the NoExecute taints of a node are brought into line, by its name.
        self._due: dict[str, datetime] = {}

    def observe(self, change: Change) -> None:
        """Note a node."""
        if change.resource == "nodes" and change.type != "DELETED":
            self._touched.add(change.object["metadata"]["name"])

    def sync(self, key: str) -> None:
        """Set the taints of the node named *key*."""
        node = self.store.find("nodes", key)
        if node is None:
            self._due.pop(key, None)
            return
        spec = node.get("spec") or {}
        before: list[Object] = spec.get("taints") or []
        wanted = self._on_time(key, before, self._wanted(node))
        managed = {taints.UNSCHEDULABLE}
        if (node.get("status") or {}).get("conditions"):
            managed.update(_BY_CONDITION.values())
        after = [
            taint for taint in before if taint["key"] not in managed or (taint["key"], taint.get("effect")) in wanted
        ]
        present = {(taint["key"], taint.get("effect")) for taint in after}
        now = timestamp(self.store.clock.now())
        for name, effect in wanted:
            if (name, effect) not in present:
                after.append({"key": name, "effect": effect, "timeAdded": now})
        if after != before:
            self.store.update("nodes", {**node, "spec": {**spec, "taints": after}})

    def _on_time(self, key: str, before: list[Object], wanted: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return the *wanted* taints, but with the NoExecute taints of *before* until the node is looked at."""
        present = [
            (taint["key"], "NoExecute")
            for taint in before
            if taint["key"] in _EVICTING and taint.get("effect") == "NoExecute"
        ]
        now = self.store.clock.now()
        if sorted(present) == sorted(each for each in wanted if each[1] == "NoExecute") or not self._period:
            self._due.pop(key, None)
            return wanted
        if key not in self._due:
            looks = (now - self._began) // self._period + 1
            self._due[key] = self._began + looks * self._period
            self._agenda.at(self._due[key], lambda: self.touch(key), key=f"look at {key}")
        if self._due[key] <= now:
            del self._due[key]
            return wanted
        return [*(each for each in wanted if each[1] != "NoExecute"), *present]

    @staticmethod
    def _wanted(node: Object) -> list[tuple[str, str]]:
        wanted = []
        if (node.get("spec") or {}).get("unschedulable"):
            wanted.append((taints.UNSCHEDULABLE, "NoSchedule"))
        for condition in (node.get("status") or {}).get("conditions") or ():
            name = _BY_CONDITION.get((condition["type"], condition["status"]))
            if name:
                wanted.append((name, "NoSchedule"))
                if name in _EVICTING:
                    wanted.append((name, "NoExecute"))
        return wanted
