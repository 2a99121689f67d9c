"""The roster: nodes and pods as the cluster has them."""

from collections import defaultdict
from collections.abc import Collection

from nodewright.api import Node, Pod, Resources


class Roster:
    """Kept up with change by change. `ValueError` about a malformed quantity comes when an object is put, not later."""

    def __init__(self) -> None:
        #: Nodes by name.
        self.nodes: dict[str, Node] = {}
        #: Pods by key.
        self.pods: dict[str, Pod] = {}
        self._ready: set[str] = set()
        self._room: dict[str, Resources] = {}
        self._requests: dict[str, Resources] = {}
        self._by_node: defaultdict[str, dict[str, Pod]] = defaultdict(dict)

    def put_node(self, node: Node) -> None:
        """Take in a new node, or a new state of one."""
        self._room[node.name] = node.allocatable
        self.nodes[node.name] = node
        (self._ready.add if node.ready else self._ready.discard)(node.name)

    def drop_node(self, name: str) -> None:
        """Forget a node."""
        self.nodes.pop(name, None)
        self._ready.discard(name)
        self._room.pop(name, None)

    def put_pod(self, pod: Pod) -> None:
        """Take in a new pod, or a new state of one."""
        self._requests[pod.key] = pod.requests
        self._unbind(pod.key)
        self.pods[pod.key] = pod
        if not pod.finished:
            self._by_node[pod.spec.node_name][pod.key] = pod

    def drop_pod(self, key: str) -> None:
        """Forget a pod."""
        self._unbind(key)
        self._requests.pop(key, None)
        self.pods.pop(key, None)

    @property
    def ready(self) -> int:
        """How many nodes are ready."""
        return len(self._ready)

    @property
    def running(self) -> int:
        """How many pods run."""
        return sum(pod.status.phase == "Running" for pod in self.pods.values())

    def pods_on(self, node: str) -> Collection[Pod]:
        """The pods that take up room on a node."""
        return self._by_node[node].values() if node in self._by_node else ()

    def share(self, node: str, resource: str) -> float:
        """How much of a resource of a node is asked for, 0 to 1."""
        room = self._room[node].get(resource, 0)
        asked = sum(self._requests[pod.key].get(resource, 0) for pod in self.pods_on(node))
        return asked / room if room else 0.0

    def _unbind(self, key: str) -> None:
        before = self.pods.get(key)
        if before is not None:
            self._by_node[before.spec.node_name].pop(key, None)
