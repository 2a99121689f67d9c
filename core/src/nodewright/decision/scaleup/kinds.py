"""Kinds of groups: whatever is asked about new nodes that no pending pod can tell apart is asked once."""

from collections.abc import Hashable, Sequence

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.cluster import Cluster, PodClass
from nodewright.scheduling.blank_node import blank_node
from nodewright.scheduling.filters import inter_pod_affinity


class Kinds:
    """Tells the kind of a group's new nodes, as far as some pending pods see them."""

    def __init__(self, cluster: Cluster, sets: Sequence[PodSet]) -> None:
        self._cluster = cluster
        classes = [cluster.pod_classes.of(pods.pod) for pods in sets]
        # A volume may ask for any label.
        self._any_label = any(each.has_volumes for each in classes)
        self._labels = frozenset(label for each in classes for label in _labels(cluster, each))
        self._known: dict[str, Hashable] = {}

    def of(self, facts: GroupFacts) -> Hashable:
        """Return what is the same for groups, which must have templates, of one kind."""
        known = self._known.get(facts.id)
        if known is None:
            known = self._known[facts.id] = self._tell(facts)
        return known

    def _tell(self, facts: GroupFacts) -> Hashable:
        blank = blank_node(self._cluster, facts)
        labels = blank.marks.labels
        shown = labels.keys() if self._any_label else self._labels & labels.keys()
        return (
            tuple(sorted((name, labels[name]) for name in shown)),
            blank.marks.taints,
            blank.marks.unschedulable,
            tuple(sorted(blank.allocatable.items())),
            tuple(sorted(companion.index for companion in blank.companions)),
            tuple(sorted(blank.attach_limits.items())),
        )


def _labels(cluster: Cluster, pods: PodClass) -> frozenset[str]:
    """Return the labels of nodes that matter for *pods*, by what they ask for or what others ask of them."""
    others = inter_pod_affinity.dislikers(cluster, pods)
    keys = [rule.key for rule in pods.spread]
    keys += [term.key for term in (*pods.affinity, *pods.anti_affinity, *(term for _, term in others))]
    return pods.node_labels.union(keys)
