"""A plain check of placements: are all rules kept, and is no pod left over that could have been placed?

Knows nothing of columns and classes. Understands what the worlds of `bench.shapes` contain: requests, required
affinity and anti-affinity and hard spread, all with selectors by ``matchLabels`` and in one namespace.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from nodewright.api import Pod
from nodewright.objects import LabelSelector, Node
from nodewright.objects.affinity import PodAffinityTerm, TopologySpreadConstraint


class Ledger:
    """Which pods run where, and what room is left."""

    def __init__(self, nodes: Iterable[Node], running: Iterable[tuple[Pod, str]]) -> None:
        self._nodes = {node.name: node for node in nodes}
        self._left = {name: Counter(node.allocatable) for name, node in self._nodes.items()}
        self._pods: Counter[tuple[str, str, tuple[str, str]]] = Counter()
        self._lows: dict[tuple[str, tuple[str, str]], int] = {}
        self._domains: dict[str, set[str]] = {}
        for node in self._nodes.values():
            for key, value in node.metadata.labels.items():
                self._domains.setdefault(key, set()).add(value)
        self._fresh: list[tuple[Pod, str]] = []
        for pod, name in running:
            self._add(pod, name)

    def place(self, pods: Mapping[str, Pod], placed: Mapping[str, str]) -> None:
        """Take in a placement of *pods*: node by pod key."""
        for key, node in placed.items():
            self._fresh.append((pods[key], node))
            self._add(pods[key], node)
        self._lows.clear()

    def broken(self) -> Iterator[str]:
        """Yield every rule that the placement breaks."""
        for name, left in self._left.items():
            for resource, amount in left.items():
                if amount < 0:
                    yield f"{name} has too little {resource}"
        for pod, node in self._fresh:
            for term in _repelling(pod):
                if self._near(node, term.topology_key, term.label_selector) > 1:
                    yield f"{pod.key} has a neighbour on {node} that it must not have"
            for term in _attracting(pod):
                if not self._near(node, term.topology_key, term.label_selector):
                    yield f"{pod.key} has no neighbour on {node} that it must have"
            for rule in pod.spec.topology_spread_constraints:
                if self._near(node, rule.topology_key, rule.label_selector) > self._least(rule) + rule.max_skew:
                    yield f"{pod.key} makes the spread uneven on {node}"

    def placeable(self, pods: Iterable[Pod]) -> Iterator[str]:
        """Yield those of *pods* that could still be placed; of equal pods, only one is checked."""
        seen = set()
        for pod in pods:
            owner = pod.metadata.owner_references[0].name
            if owner in seen:
                continue
            seen.add(owner)
            for node in self._nodes:
                if self._fits(pod, node):
                    yield f"{pod.key} would fit on {node}"
                    break

    def _fits(self, pod: Pod, node: str) -> bool:
        left = self._left[node]
        if any(amount > left[resource] for resource, amount in pod.requests.items()):
            return False
        return (
            all(not self._near(node, term.topology_key, term.label_selector) for term in _repelling(pod))
            and all(self._near(node, term.topology_key, term.label_selector) for term in _attracting(pod))
            and all(
                self._near(node, rule.topology_key, rule.label_selector) < self._least(rule) + rule.max_skew
                for rule in pod.spec.topology_spread_constraints
            )
        )

    def _add(self, pod: Pod, node: str) -> None:
        for resource, amount in pod.requests.items():
            self._left[node][resource] -= amount
        labels = self._nodes[node].metadata.labels
        for pair in pod.metadata.labels.items():
            for key in self._domains:
                if key in labels:
                    self._pods[key, labels[key], pair] += 1

    def _near(self, node: str, key: str, selector: LabelSelector | None) -> int:
        return self._pods[key, self._nodes[node].metadata.labels[key], _pair(selector)]

    def _least(self, rule: TopologySpreadConstraint) -> int:
        key, pair = rule.topology_key, _pair(rule.label_selector)
        if (key, pair) not in self._lows:
            self._lows[key, pair] = min(self._pods[key, domain, pair] for domain in self._domains[key])
        return self._lows[key, pair]


def _pair(selector: LabelSelector | None) -> tuple[str, str]:
    assert selector is not None
    (pair,) = selector.match_labels.items()
    return pair


def _repelling(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    affinity = pod.spec.affinity
    return affinity.pod_anti_affinity.required if affinity and affinity.pod_anti_affinity else ()


def _attracting(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    affinity = pod.spec.affinity
    return affinity.pod_affinity.required if affinity and affinity.pod_affinity else ()
