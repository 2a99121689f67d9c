"""No domain of a topology key may get too many more of the selected pods than the one that has fewest."""

from collections import Counter

from msgspec.structs import replace
from nodewright.objects import LabelSelector, Pod, Requirement
from nodewright.objects.affinity import TopologySpreadConstraint

from ..selectors import selects
from ..snapshot import NodeInfo, Snapshot
from .node_affinity import wants
from .taint_toleration import repels

_SKEWED = "node(s) didn't match pod topology spread constraints"


def check(snapshot: Snapshot, pod: Pod, info: NodeInfo) -> tuple[str, ...]:
    for constraint in _hard(pod):
        domain = info.labels.get(constraint.topology_key)
        if domain is None:
            return (f"{_SKEWED} (missing required label)",)
        selector = _selector(constraint, pod)
        counts = _counts(snapshot, pod, constraint, selector)
        fewest = min(counts.values(), default=0)
        if len(counts) < (constraint.min_domains or 1):
            fewest = 0
        itself = 1 if selects(selector, pod.metadata.labels) else 0
        if counts[domain] + itself - fewest > constraint.max_skew:
            return (_SKEWED,)
    return ()


def _hard(pod: Pod) -> list[TopologySpreadConstraint]:
    constraints = pod.spec.topology_spread_constraints
    return [each for each in constraints if each.when_unsatisfiable == "DoNotSchedule"]


def _selector(constraint: TopologySpreadConstraint, pod: Pod) -> LabelSelector | None:
    """The constraint's selector, narrowed to pods that are like *pod* in ``matchLabelKeys``."""
    if constraint.label_selector is None:
        return None
    alike = tuple(
        Requirement(key=key, operator="In", values=(pod.metadata.labels[key],))
        for key in constraint.match_label_keys
        if key in pod.metadata.labels
    )
    return replace(constraint.label_selector, match_expressions=constraint.label_selector.match_expressions + alike)


def _counts(
    snapshot: Snapshot, pod: Pod, constraint: TopologySpreadConstraint, selector: LabelSelector | None
) -> Counter[str]:
    """How many selected pods there are in each domain that has a node which counts."""
    counts: Counter[str] = Counter()
    for info in snapshot.nodes.values():
        if _node_counts(pod, constraint, info):
            counts[info.labels[constraint.topology_key]] += sum(
                _pod_counts(pod, selector, other) for other in info.pods
            )
    return counts


def _node_counts(pod: Pod, constraint: TopologySpreadConstraint, info: NodeInfo) -> bool:
    if any(each.topology_key not in info.labels for each in _hard(pod)):
        return False
    if constraint.node_affinity_policy == "Honor" and not wants(pod, info.node):
        return False
    return not (constraint.node_taints_policy == "Honor" and repels(info.node, pod))


def _pod_counts(pod: Pod, selector: LabelSelector | None, other: Pod) -> bool:
    if selector == LabelSelector():
        return False  # kube-scheduler counts nothing for a selector that selects everything
    if other.metadata.deletion_timestamp is not None or other.metadata.namespace != pod.metadata.namespace:
        return False
    return selects(selector, other.metadata.labels)
