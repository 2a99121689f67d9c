"""What a new node of a group offers: its template, minus the resources of DaemonSet and static pods."""

from collections.abc import Mapping
from dataclasses import dataclass

from nodewright.api.group import GroupFacts
from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster, NodeMarks, PodClass
from nodewright.objects import DaemonSet, Resources
from nodewright.scheduling.filters import node_affinity, taint_toleration


@dataclass(frozen=True, kw_only=True)
class Blank:
    """A new node, before any pending pod is placed on it."""

    marks: NodeMarks
    allocatable: Resources
    #: The static and DaemonSet pods that come with it.
    companions: tuple[PodClass, ...]
    #: How many volumes it can take, by storage driver.
    attach_limits: Mapping[str, int]


def blank_node(cluster: Cluster, group: GroupFacts) -> Blank:
    """Return a new node of *group*, which must have a template."""
    template = group.template
    assert template is not None
    companions = tuple(cluster.pod_classes.of(pod) for pod in template.pods)
    if not template.from_node:
        suitable = (each for each in cluster.daemon_sets.values() if runs_on(cluster, each, template))
        companions += tuple(cluster.pod_classes.of(each.pod) for each in suitable)
    marks = NodeMarks(labels=template.labels, taints=template.taints, unschedulable=template.unschedulable)
    return Blank(
        marks=marks, allocatable=template.allocatable, companions=companions, attach_limits=template.csi_drivers
    )


def runs_on(cluster: Cluster, daemon_set: DaemonSet, template: NodeTemplate) -> bool:
    """Return whether *daemon_set* would start a pod on a node like *template*."""
    pod = cluster.pod_classes.of(daemon_set.pod)
    return (
        taint_toleration.check(pod, template.taints) is None and node_affinity.check(pod, "", template.labels) is None
    )
