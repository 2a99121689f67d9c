"""The scheduler's filters, with kube-scheduler's words for refusals, and the rank of nodes that pass.

`refusals` has the filters that look at one node only. `TopologySpread` and `InterPodAffinity` look at other pods too.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from nodewright_fake.controllers.scheduling.cache import SchedulerCache
from nodewright_fake.controllers.scheduling.crowds import MatchingPods, SpreadPods
from nodewright_fake.controllers.scheduling.needs import Needs
from nodewright_fake.controllers.scheduling.node_info import NodeInfo
from nodewright_fake.controllers.scheduling.pod_shape import PodShape
from nodewright_fake.controllers.scheduling.terms import SpreadConstraint
from nodewright_fake.controllers.selectors import selects
from nodewright_fake.controllers.taints import UNSCHEDULABLE, NodeTaint, is_covered

NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"

_UNEVEN = "node(s) didn't match pod topology spread constraints"

_CORDON = NodeTaint(UNSCHEDULABLE, "", "NoSchedule")

#: Smaller is better: soft taints not tolerated, how full the node would be (minus the free per cent), its name.
Rank = tuple[int, int, str]
#: The topology key, and the value that the nodes of the domain share.
Domain = tuple[str, str]


def refusals(needs: Needs, node: NodeInfo) -> tuple[str, ...]:
    """Return why a pod with *needs* can't go to *node*, in kube-scheduler's words; nothing if it can.

    Only the first filter that refuses is named, but all resources that are short.
    """
    if node.unschedulable and not is_covered(_CORDON, needs.tolerations):
        return ("node(s) were unschedulable",)
    if node.tainted_for(needs):
        return ("node(s) had untolerated taint(s)",)
    if not node.admits(needs):
        return (NOT_SELECTED,)
    if any(wanted.clashes(taken) for wanted in needs.ports for taken in node.ports):
        return ("node(s) didn't have free ports for the requested pod ports",)
    return _shortages(needs, node)


def _shortages(needs: Needs, node: NodeInfo) -> tuple[str, ...]:
    short = []
    if len(node.pods) + 1 > node.allocatable.get("pods", 0):
        short.append("Too many pods")
    for name, amount in needs.requests.items():
        if amount > 0 and amount > node.allocatable.get(name, 0) - node.used[name]:
            short.append(f"Insufficient {name}")
    return tuple(short)


def rank(needs: Needs, node: NodeInfo) -> Rank:
    """Return the rank of *node*: fewer soft taints first, then the emptier node, then the name."""
    soft = sum(taint.effect == "PreferNoSchedule" and not is_covered(taint, needs.tolerations) for taint in node.taints)
    free = 0
    for name, weight in needs.weight.items():
        if total := node.allocatable.get(name, 0):
            left = total - node.weight[name] - weight
            free += max(0, left) * 100 // total
    return soft, -free // 2, node.name


class TopologySpread:
    """The nodes on which one more pod of a shape keeps its topology spread constraints."""

    def __init__(self, shape: PodShape, cluster: SchedulerCache) -> None:
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

    def refusals(self, node: NodeInfo) -> tuple[str, ...]:
        """Return why a pod on *node* would break a constraint, in kube-scheduler's words; nothing if it would not."""
        for constraint, domains, limit in self._rules:
            value = node.labels.get(constraint.topology_key)
            if value is None:
                return (f"{_UNEVEN} (missing required label)",)
            if domains[value] > limit:
                return (_UNEVEN,)
        return ()


def _counts_in(constraint: SpreadConstraint, shape: PodShape, node: NodeInfo) -> bool:
    if constraint.honours_affinity and not node.admits(shape.needs):
        return False
    return not (constraint.honours_taints and node.tainted_for(shape.needs))


class InterPodAffinity:
    """The nodes that required affinity and anti-affinity leave to a pod of a shape, in both directions."""

    def __init__(self, shape: PodShape, cluster: SchedulerCache) -> None:
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
        # The first pod of a group that is to be together has no other to join.
        self._may_be_first = not self._near and all(
            term.matches(shape.namespace, labels, shape.labels) for term in shape.affinity
        )

    def refusals(self, node: NodeInfo) -> tuple[str, ...]:
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


def _domains(cluster: SchedulerCache, counts: Mapping[str, int], keys: Iterable[str]) -> set[Domain]:
    domains: set[Domain] = set()
    for name in counts:
        node = cluster.nodes.get(name)
        if node is not None:
            domains.update((key, node.labels[key]) for key in keys if key in node.labels)
    return domains
