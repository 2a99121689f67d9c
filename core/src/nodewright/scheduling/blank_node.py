"""What a new node of a group offers: its template, minus the resources of DaemonSet and static pods.

A node that is starting offers the same, but for what it shows already and for the pods that it has.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster, NodeMarks, PodClass
from nodewright.objects import DaemonSet, Node, OwnerReference, Pod, Resources
from nodewright.objects.node import ZONE
from nodewright.scheduling.filters import node_affinity, taint_toleration


@dataclass(frozen=True, kw_only=True)
class Blank:
    """A new node, before any pending pod is placed on it, or what a starting node will be."""

    marks: NodeMarks
    allocatable: Resources
    #: The static and DaemonSet pods that come with it.
    companions: tuple[PodClass, ...]
    #: How many volumes it can take, by storage driver.
    attach_limits: Mapping[str, int]


def blank_node(cluster: Cluster, group: GroupFacts) -> Blank:
    """Return a new node of *group*, which must have a template."""
    template = _template_of(group)
    return Blank(
        marks=NodeMarks(labels=template.labels, taints=template.taints, unschedulable=template.unschedulable),
        allocatable=template.allocatable,
        companions=tuple(cluster.pod_classes.of(pod) for pod in _companions(cluster, template)),
        attach_limits=template.csi_drivers,
    )


def started_node(cluster: Cluster, group: GroupFacts, node: Node) -> Blank:
    """Return what *node* of *group*, which is starting, will be; the companions are those that it still lacks.

    The template says which taints will be left, as the node has some only for its start. It also promises labels,
    resources and volumes that the node does not show yet. What the node shows goes first.
    """
    template, csi_node = _template_of(group), cluster.storage.csi_nodes.get(node.name)
    return Blank(
        marks=NodeMarks(
            labels=_labels(template, node.metadata.labels),
            taints=template.taints,
            unschedulable=template.unschedulable,
        ),
        allocatable=_allocatable(template.allocatable, node.allocatable),
        companions=_lacking(cluster, template, node.name),
        attach_limits={**template.csi_drivers, **(csi_node.limits if csi_node else {})},
    )


def runs_on(cluster: Cluster, daemon_set: DaemonSet, template: NodeTemplate) -> bool:
    """Return whether *daemon_set* would start a pod on a node like *template*."""
    pod = cluster.pod_classes.of(daemon_set.pod)
    return (
        taint_toleration.check(pod, template.taints) is None and node_affinity.check(pod, "", template.labels) is None
    )


def _template_of(group: GroupFacts) -> NodeTemplate:
    template = group.template
    assert template is not None
    return template


def _companions(cluster: Cluster, template: NodeTemplate) -> tuple[Pod, ...]:
    """Return the static and DaemonSet pods that come with a node like *template*."""
    if template.from_node:
        return template.pods
    suitable = tuple(each.pod for each in cluster.daemon_sets.values() if runs_on(cluster, each, template))
    return template.pods + suitable


def _lacking(cluster: Cluster, template: NodeTemplate, node: str) -> tuple[PodClass, ...]:
    """Return those pods of *template* that are not on *node* yet."""
    here = Counter(_kind(row.namespace, row.owner, row.pod_class) for row in cluster.pods_on(node))
    lacking = []
    for pod in _companions(cluster, template):
        pod_class = cluster.pod_classes.of(pod)
        kind = _kind(pod.metadata.namespace, pod.metadata.controller, pod_class)
        if here[kind]:
            here[kind] -= 1
        else:
            lacking.append(pod_class)
    return tuple(lacking)


def _kind(namespace: str, owner: OwnerReference | None, pod_class: PodClass) -> object:
    """Return what a companion has in common on all nodes: its DaemonSet, or the class of a static pod."""
    return (namespace, owner.name) if owner is not None and owner.kind == "DaemonSet" else pod_class


def _labels(template: NodeTemplate, shown: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels *shown* by a node, and those promised, which are in its zone where the promise was a guess."""
    zone = shown.get(ZONE)
    promised = {
        key: zone if zone is not None and value in template.zones else value for key, value in template.labels.items()
    }
    return {**promised, **shown}


def _allocatable(promised: Resources, shown: Resources) -> Resources:
    """Return the resources of a node: devices come one by one, and of all others what is there is all there will be."""
    return {
        name: max(promised.get(name, 0), shown.get(name, 0))
        if "/" in name
        else shown.get(name, 0) or promised.get(name, 0)
        for name in {**shown, **promised}
    }
