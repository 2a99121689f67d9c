"""What a new node of a group offers: its template, without what DaemonSet and static pods take."""

from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster, NodeMarks, PodClass
from nodewright.objects import Node, Resources, Taint
from nodewright.objects.node import DELETION_CANDIDATE, TO_BE_DELETED
from nodewright.scheduling import node_affinity, taint_toleration

#: Taints that come from the state of one node, not from its group.
_PASSING_TAINTS = frozenset(
    [TO_BE_DELETED, DELETION_CANDIDATE, "node.cloudprovider.kubernetes.io/uninitialized"]
    + [
        f"node.kubernetes.io/{state}"
        for state in (
            "not-ready",
            "unreachable",
            "unschedulable",
            "memory-pressure",
            "disk-pressure",
            "pid-pressure",
            "network-unavailable",
        )
    ]
)


@dataclass(frozen=True, kw_only=True)
class Blank:
    """A new node before any pending pod is placed on it."""

    marks: NodeMarks
    allocatable: Resources
    #: The static and DaemonSet pods that come with it.
    companions: tuple[PodClass, ...]


def blank_node(cluster: Cluster, group: GroupFacts) -> Blank:
    """Return a new node of *group*, which must have a template."""
    template = group.template
    assert template is not None
    marks = NodeMarks(labels=template.labels, taints=template.taints)
    companions = [cluster.pod_classes.of(pod) for pod in template.pods]
    companions += [
        pod_class
        for daemon_set in cluster.daemon_sets.values()
        if _runs_on(pod_class := cluster.pod_classes.of(daemon_set.pod), marks)
    ]
    return Blank(marks=marks, allocatable=template.allocatable, companions=tuple(companions))


def template_from(node: Node) -> NodeTemplate:
    """Return what a new node like *node* looks like: without the passing marks of this one."""
    labels = {key: value for key, value in node.metadata.labels.items() if key != "kubernetes.io/hostname"}
    taints: tuple[Taint, ...] = tuple(taint for taint in node.spec.taints if taint.key not in _PASSING_TAINTS)
    return NodeTemplate(labels=labels, taints=taints, capacity=node.capacity, allocatable=node.allocatable)


def _runs_on(pod: PodClass, marks: NodeMarks) -> bool:
    return taint_toleration.check(pod, marks.taints) is None and node_affinity.check(pod, "", marks.labels) is None
