"""Taints that follow from the state of a node: cordoned, not ready, unreachable, under pressure."""

from nodewright_fake.apiserver.store import Change, Object, timestamp
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


class NodeLifecycle(Reconciler[str]):
    """Keeps those taints, and leaves all others alone. A node without any conditions keeps what it has."""

    def observe(self, change: Change) -> None:
        """Note a node."""
        if change.resource == "nodes" and change.type != "DELETED":
            self._touched.add(change.object["metadata"]["name"])

    def sync(self, key: str) -> None:
        """Set the taints of the node named *key*."""
        node = self.store.find("nodes", key)
        if node is None:
            return
        spec = node.get("spec") or {}
        before: list[Object] = spec.get("taints") or []
        wanted = self._wanted(node)
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
