"""The filter of topology spread constraints."""

from collections import Counter

from nodewright_fake.controllers.scheduling.cluster import Cluster
from nodewright_fake.controllers.scheduling.crowds import SpreadPods
from nodewright_fake.controllers.scheduling.node import NodeState
from nodewright_fake.controllers.scheduling.shape import Shape
from nodewright_fake.controllers.scheduling.terms import SpreadConstraint
from nodewright_fake.controllers.selectors import selects

_REFUSAL = "node(s) didn't match pod topology spread constraints"


class Spread:
    """Where one more pod of one shape keeps the spread even, as the pods lie now."""

    def __init__(self, shape: Shape, cluster: Cluster) -> None:
        self._rules: list[tuple[SpreadConstraint, Counter[str], int]] = []
        nodes = [
            node
            for node in cluster.nodes.values()
            if all(constraint.topology_key in node.labels for constraint in shape.spread)
        ]
        for constraint in shape.spread:
            counts = cluster.count(SpreadPods(constraint.namespace, constraint.selector))
            domains: Counter[str] = Counter()
            for node in nodes:
                if _counts_in(constraint, shape, node):
                    domains[node.labels[constraint.topology_key]] += counts.get(node.name, 0)
            least = min(domains.values(), default=0) if len(domains) >= constraint.min_domains else 0
            itself = 1 if selects(constraint.selector, shape.labels) else 0
            # The largest count that a domain may have before the pod joins it.
            self._rules.append((constraint, domains, constraint.max_skew + least - itself))

    def refusals(self, node: NodeState) -> tuple[str, ...]:
        """Return why a pod on *node* would break a constraint, in kube-scheduler's words; nothing if it would not."""
        for constraint, domains, limit in self._rules:
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return (f"{_REFUSAL} (missing required label)",)
            if domains[value] > limit:
                return (_REFUSAL,)
        return ()


def _counts_in(constraint: SpreadConstraint, shape: Shape, node: NodeState) -> bool:
    if constraint.honours_affinity and not node.admits(shape.needs):
        return False
    return not (constraint.honours_taints and node.tainted_for(shape.needs))
