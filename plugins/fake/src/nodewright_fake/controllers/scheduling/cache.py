"""The scheduler's cache: nodes, the pods on them, and counts of the pods that constraints look at."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nodewright_fake.apiserver.store import Object
from nodewright_fake.controllers.scheduling.crowds import Crowd, RepellingPods
from nodewright_fake.controllers.scheduling.node_info import NodeInfo
from nodewright_fake.controllers.scheduling.pod_shape import PodShape
from nodewright_fake.controllers.scheduling.terms import PodTerm

#: Namespace, name and uid.
PodId = tuple[str, str, str]

#: At most so many counts are kept. They can be made again at any time.
_KEPT_COUNTS = 2000


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod on a node."""

    node: str
    shape: PodShape
    #: Whether the pod is being deleted. It keeps its place until it is gone.
    leaving: bool


class SchedulerCache:
    """Nodes and placed pods, changed one at a time."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeInfo] = {}
        self._on: defaultdict[str, dict[PodId, Placement]] = defaultdict(dict)
        self._placements: dict[PodId, Placement] = {}
        self._namespaces: dict[str, Mapping[str, str]] = {}
        self._counts: dict[Crowd, Counter[str]] = {}
        self._repelling: Counter[PodTerm] = Counter()
        self._changes = 0
        self._changed: OrderedDict[str, int] = OrderedDict()

    @property
    def mark(self) -> int:
        """Where the log of changes ends now."""
        return self._changes

    def changed_since(self, mark: int) -> Iterator[str]:
        """Return the names of the nodes that changed, came or went after *mark*, the latest first."""
        for name, change in reversed(self._changed.items()):
            if change <= mark:
                return
            yield name

    def set_node(self, node: Object) -> bool:
        """Add a node or replace what is known of it; return whether anything changed that matters to pods."""
        state = NodeInfo(node)
        known = self.nodes.get(state.name)
        if known is not None and known.offer == state.offer:
            return False
        for pod, placement in self._on.get(state.name, {}).items():
            state.place(pod, placement.shape)
        self.nodes[state.name] = state
        self._note(state.name)
        return True

    def drop_node(self, name: str) -> None:
        """Forget a node. Its pods keep their place in case it comes back."""
        if self.nodes.pop(name, None) is not None:
            self._note(name)

    def set_namespace(self, name: str, labels: Mapping[str, str] | None) -> None:
        """Note the labels of a namespace; None when it is gone."""
        if labels is None:
            self._namespaces.pop(name, None)
        else:
            self._namespaces[name] = labels
        self._counts.clear()

    def namespace_labels(self, name: str) -> Mapping[str, str]:
        """Return the labels of a namespace; its name is always one of them."""
        return {"kubernetes.io/metadata.name": name, **self._namespaces.get(name, {})}

    def placement(self, pod: PodId) -> Placement | None:
        """Return where a pod is."""
        return self._placements.get(pod)

    def place(self, pod: PodId, placement: Placement) -> None:
        """Note that a pod is on a node."""
        self._placements[pod] = placement
        self._on[placement.node][pod] = placement
        if state := self.nodes.get(placement.node):
            state.place(pod, placement.shape)
        self._repelling.update(placement.shape.anti_affinity)
        self._count(placement, 1)
        self._note(placement.node)

    def lift(self, pod: PodId) -> None:
        """Note that a pod has left its node."""
        placement = self._placements.pop(pod)
        on = self._on[placement.node]
        del on[pod]
        if not on:
            del self._on[placement.node]
        if state := self.nodes.get(placement.node):
            state.lift(pod)
        self._repelling.subtract(placement.shape.anti_affinity)
        self._count(placement, -1)
        self._note(placement.node)

    def count(self, crowd: Crowd) -> Mapping[str, int]:
        """Return how many pods of *crowd* are on each node that has any."""
        counts = self._counts.get(crowd)
        if counts is None:
            if len(self._counts) >= _KEPT_COUNTS:
                self._counts.clear()
            counts = self._counts[crowd] = Counter(
                placement.node for placement in self._placements.values() if self._included(crowd, placement)
            )
        return counts

    def repelling_terms(self, shape: PodShape) -> list[PodTerm]:
        """Return the anti-affinity terms of placed pods that mean pods of *shape*."""
        labels = self.namespace_labels(shape.namespace)
        return [
            term
            for term, carriers in self._repelling.items()
            if carriers and term.matches(shape.namespace, labels, shape.labels)
        ]

    def repellers(self, term: PodTerm) -> Mapping[str, int]:
        """Return how many pods with the anti-affinity *term* are on each node that has any."""
        return self.count(RepellingPods(term))

    def _count(self, placement: Placement, step: int) -> None:
        for crowd, counts in self._counts.items():
            if self._included(crowd, placement):
                counts[placement.node] += step
                if not counts[placement.node]:
                    del counts[placement.node]

    def _included(self, crowd: Crowd, placement: Placement) -> bool:
        shape = placement.shape
        return crowd.includes(shape, self.namespace_labels(shape.namespace), leaving=placement.leaving)

    def _note(self, node: str) -> None:
        self._changes += 1
        self._changed[node] = self._changes
        self._changed.move_to_end(node)
