"""The filter of required inter-pod affinity and anti-affinity, in both directions."""

from collections.abc import Iterable, Mapping

from nodewright_fake.controllers.scheduling.cluster import Cluster
from nodewright_fake.controllers.scheduling.crowds import MatchingPods
from nodewright_fake.controllers.scheduling.node import NodeState
from nodewright_fake.controllers.scheduling.shape import Shape

#: A domain: the topology key and the value that the nodes in it share.
Domain = tuple[str, str]


class Neighbours:
    """Where the pods on the nodes allow a pod of one shape, as they are now."""

    def __init__(self, shape: Shape, cluster: Cluster) -> None:
        self._shape = shape
        self._near = _domains(
            cluster, cluster.count(MatchingPods(shape.affinity)), [term.topology_key for term in shape.affinity]
        )
        self._far: set[Domain] = set()
        for term in shape.anti_affinity:
            self._far |= _domains(cluster, cluster.count(MatchingPods((term,))), [term.topology_key])
        self._forbidden: set[Domain] = set()
        repelling = cluster.repelling_terms(shape)
        for term in repelling:
            self._forbidden |= _domains(cluster, cluster.repellers(term), [term.topology_key])
        self._forbidden_keys = {term.topology_key for term in repelling}
        labels = cluster.namespace_labels(shape.namespace)
        # The first pod of a group that wants to be together has nobody to join.
        self._may_be_first = not self._near and all(
            term.matches(shape.namespace, labels, shape.labels) for term in shape.affinity
        )

    def refusals(self, node: NodeState) -> tuple[str, ...]:
        """Return why the pods around keep a pod off *node*, in kube-scheduler's words; nothing if they do not."""
        for term in self._shape.affinity:
            value = node.labels.get(term.topology_key)
            if value is None or not (self._may_be_first or (term.topology_key, value) in self._near):
                return ("node(s) didn't match pod affinity rules",)
        for term in self._shape.anti_affinity:
            value = node.labels.get(term.topology_key)
            if value is not None and (term.topology_key, value) in self._far:
                return ("node(s) didn't match pod anti-affinity rules",)
        for key in self._forbidden_keys:
            if (key, node.labels.get(key)) in self._forbidden:
                return ("node(s) didn't satisfy existing pods anti-affinity rules",)
        return ()


def _domains(cluster: Cluster, counts: Mapping[str, int], keys: Iterable[str]) -> set[Domain]:
    domains: set[Domain] = set()
    for name in counts:
        node = cluster.nodes.get(name)
        if node is not None:
            domains.update((key, node.labels[key]) for key in keys if key in node.labels)
    return domains
