"""Likenesses: what a new node would look like if it were made like one that is there, or as its provider says."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256

import msgspec
from msgspec.structs import replace as struct_replace

from nodewright.api.template import NodeTemplate
from nodewright.cluster import Cluster, PodRow
from nodewright.config.model import Settings
from nodewright.decision.health.readiness import lasting
from nodewright.objects import DaemonSet, Node, Pod
from nodewright.objects.node import HOSTNAME
from nodewright.scheduling.blank_node import runs_on

TEMPLATE_NODE = "cluster-autoscaler.kubernetes.io/template-node"
_CRITICAL = "system-node-critical"
#: Older names of labels, under which they are still set.
_OLDER_NAMES = {
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region": "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone": "failure-domain.beta.kubernetes.io/zone",
}


def of_node(node: Node, cluster: Cluster, settings: Settings) -> NodeTemplate:
    """Return what a node like *node* looks like, without the passing marks of this one, with the pods that come along.

    These are its static pods and those of DaemonSets; other DaemonSets that suit it only where they force their way.
    """
    companions = [row for row in cluster.pods_on(node.name) if row.deleted is None and _comes_along(row.pod_class.pod)]
    present = {f"{row.namespace}/{row.owner.name}" for row in companions if row.owner is not None}
    bare = of_machine(node, settings)
    absent = [each for key, each in cluster.daemon_sets.items() if key not in present and _forces_in(each, settings)]
    forced = tuple(each.pod for each in absent if runs_on(cluster, each, bare))
    drivers = cluster.storage.csi_nodes.get(node.name)
    return replace(
        bare,
        pods=(*map(_companion, companions), *forced),
        csi_drivers=drivers.limits if drivers else {},
    )


def of_machine(node: Node, settings: Settings) -> NodeTemplate:
    """Return what a machine like that of *node* offers, before any pod is on it."""
    return NodeTemplate(
        labels=_marked(node.metadata.labels),
        annotations=node.metadata.annotations,
        taints=lasting(node.spec.taints, settings.templates),
        capacity=node.capacity,
        allocatable=node.allocatable,
        unschedulable=node.spec.unschedulable and not settings.templates.from_unschedulable,
        from_node=node.name,
    )


def of_promise(promised: NodeTemplate, settings: Settings) -> NodeTemplate:
    """Return the provider's template without marks that a node has for a time only."""
    older = {old: promised.labels[name] for name, old in _OLDER_NAMES.items() if name in promised.labels}
    labels = _marked(promised.labels) | older
    return replace(promised, labels=labels, taints=lasting(promised.taints, settings.templates), from_node="")


def fingerprint(promised: NodeTemplate | None) -> str:
    """Return a short text that differs between templates that differ; empty for none.

    It is the same for every zone that the next node may come up in.
    """
    if promised is None:
        return ""
    labels = {key: value for key, value in promised.labels.items() if value not in promised.zones}
    return sha256(msgspec.json.encode(replace(promised, labels=labels), order="sorted")).hexdigest()[:16]


def next_in_zone(template: NodeTemplate, promised: NodeTemplate) -> NodeTemplate:
    """Return *template* in the zone where its provider expects the next node, if that may be any of several.

    Labels that only the nodes have, of storage drivers and the like, tell that zone as well.
    """
    if not promised.zones:
        return template
    where = {key: value for key, value in promised.labels.items() if value in promised.zones}
    if len(set(where.values())) == 1:
        (zone,) = set(where.values())
        where |= {key: zone for key, value in template.labels.items() if value in promised.zones}
    return replace(template, labels={**template.labels, **where}, zones=promised.zones)


def _marked(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key != HOSTNAME} | {TEMPLATE_NODE: "true"}


def _comes_along(pod: Pod) -> bool:
    return pod.is_mirror or pod.is_daemon


def _companion(row: PodRow) -> Pod:
    """Return the pod of *row*, as a class does not know it by name."""
    pod = row.pod_class.pod
    owners = (row.owner,) if row.owner is not None else ()
    return struct_replace(pod, metadata=struct_replace(pod.metadata, name=row.name, uid="", owner_references=owners))


def _forces_in(daemon_set: DaemonSet, settings: Settings) -> bool:
    """Tell whether a pod of the DaemonSet is counted on new nodes though it is not on the model."""
    spec = daemon_set.spec.template.spec
    critical = spec.priority_class_name == _CRITICAL and spec.preemption_policy != "Never"
    return settings.scale_up.force_daemonsets or critical
