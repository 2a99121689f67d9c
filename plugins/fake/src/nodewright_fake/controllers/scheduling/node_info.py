"""A node as the scheduler sees it: what it offers, and what the pods on it take."""

from collections import Counter

from nodewright.api import parse_resources

from nodewright_fake.apiserver.store import Object
from nodewright_fake.controllers.scheduling.needs import HostPort, Needs
from nodewright_fake.controllers.scheduling.pod_shape import PodShape
from nodewright_fake.controllers.selectors import labels_of
from nodewright_fake.controllers.taints import is_covered, read_taint


class NodeInfo:
    """A node and the pods that are placed on it."""

    def __init__(self, node: Object) -> None:
        self.name: str = node["metadata"]["name"]
        self.labels = labels_of(node)
        spec, status = node.get("spec") or {}, node.get("status") or {}
        self.unschedulable = bool(spec.get("unschedulable"))
        self.taints = tuple(read_taint(taint) for taint in spec.get("taints") or ())
        self.allocatable = parse_resources(status.get("allocatable") or status.get("capacity") or {})
        #: All that pods can see of the node.
        self.offer = (self.labels, self.unschedulable, self.taints, self.allocatable)
        self.pods: dict[tuple[str, str, str], PodShape] = {}
        self.used: Counter[str] = Counter()
        self.weight: Counter[str] = Counter()
        self.ports: Counter[HostPort] = Counter()
        self._admits: dict[Needs, bool] = {}

    def place(self, pod: tuple[str, str, str], shape: PodShape) -> None:
        """Note that a pod of *shape* takes its part of the node."""
        self.pods[pod] = shape
        self.used.update(shape.needs.requests)
        self.weight.update(shape.needs.weight)
        self.ports.update(shape.needs.ports)

    def lift(self, pod: tuple[str, str, str]) -> None:
        """Note that a pod is gone."""
        shape = self.pods.pop(pod)
        self.used.subtract(shape.needs.requests)
        self.weight.subtract(shape.needs.weight)
        self.ports.subtract(shape.needs.ports)
        for port in shape.needs.ports:
            if not self.ports[port]:
                del self.ports[port]

    def admits(self, needs: Needs) -> bool:
        """Return whether node selector and required node affinity of *needs* admit the node."""
        verdict = self._admits.get(needs)
        if verdict is None:
            verdict = self._admits[needs] = needs.select(self.name, self.labels)
        return verdict

    def tainted_for(self, needs: Needs) -> bool:
        """Return whether a taint of the node keeps pods with *needs* off."""
        return any(
            taint.effect in ("NoSchedule", "NoExecute") and not is_covered(taint, needs.tolerations)
            for taint in self.taints
        )
