"""Node templates: what a new node looks like if it is like an observed node, or as its provider says."""

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
#: Older names of labels, which are still set.
_OLDER_NAMES = {
    "node.kubernetes.io/instance-type": "beta.kubernetes.io/instance-type",
    "topology.kubernetes.io/region": "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone": "failure-domain.beta.kubernetes.io/zone",
}


def of_node(node: Node, cluster: Cluster, settings: Settings) -> NodeTemplate:
    """Return the template observed on *node*: without its passing marks, with the pods that come with such a node.

    These are its static pods and its DaemonSet pods, and those of other matching DaemonSets that are always counted.
    """
    companions = [row for row in cluster.pods_on(node.name) if row.deleted is None and _is_companion(row.pod_class.pod)]
    present = {f"{row.namespace}/{row.owner.name}" for row in companions if row.owner is not None}
    bare = of_machine(node, settings)
    absent = [
        each for key, each in cluster.daemon_sets.items() if key not in present and _always_counts(each, settings)
    ]
    always = tuple(each.pod for each in absent if runs_on(cluster, each, bare))
    drivers = cluster.storage.csi_nodes.get(node.name)
    return replace(
        bare,
        pods=(*map(_companion, companions), *always),
        csi_drivers=drivers.limits if drivers else {},
    )


def of_machine(node: Node, settings: Settings) -> NodeTemplate:
    """Return the template observed on the machine of *node*, without pods."""
    return NodeTemplate(
        labels=_marked(node.metadata.labels),
        annotations=node.metadata.annotations,
        taints=lasting(node.spec.taints, settings.templates),
        capacity=node.capacity,
        allocatable=node.allocatable,
        unschedulable=node.spec.unschedulable and not settings.templates.from_unschedulable,
        from_node=node.name,
    )


def of_provider(provided: NodeTemplate, settings: Settings) -> NodeTemplate:
    """Return the template that the provider gives, without marks that a node only has for a time."""
    older = {old: provided.labels[name] for name, old in _OLDER_NAMES.items() if name in provided.labels}
    labels = _marked(provided.labels) | older
    return replace(provided, labels=labels, taints=lasting(provided.taints, settings.templates), from_node="")


def fingerprint(provided: NodeTemplate | None) -> str:
    """Return a short text that is different for different templates; empty for none.

    It is the same for every zone in which the next node may come up.
    """
    if provided is None:
        return ""
    labels = {key: value for key, value in provided.labels.items() if value not in provided.zones}
    return sha256(msgspec.json.encode(replace(provided, labels=labels), order="sorted")).hexdigest()[:16]


def next_in_zone(template: NodeTemplate, provided: NodeTemplate) -> NodeTemplate:
    """Return *template* in the zone where its provider expects the next node, if the group has several zones.

    Labels that only nodes have, such as those of storage drivers, get that zone as well.
    """
    if not provided.zones:
        return template
    where = {key: value for key, value in provided.labels.items() if value in provided.zones}
    if len(set(where.values())) == 1:
        (zone,) = set(where.values())
        where |= {key: zone for key, value in template.labels.items() if value in provided.zones}
    return replace(template, labels={**template.labels, **where}, zones=provided.zones)


def _marked(labels: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in labels.items() if key != HOSTNAME} | {TEMPLATE_NODE: "true"}


def _is_companion(pod: Pod) -> bool:
    return pod.is_mirror or pod.is_daemon


def _companion(row: PodRow) -> Pod:
    """Return the pod of *row* with its own name and owner, which its class does not know."""
    pod = row.pod_class.pod
    owners = (row.owner,) if row.owner is not None else ()
    return struct_replace(pod, metadata=struct_replace(pod.metadata, name=row.name, uid="", owner_references=owners))


def _always_counts(daemon_set: DaemonSet, settings: Settings) -> bool:
    """Tell whether a pod of the DaemonSet counts on new nodes even if the observed node has none."""
    spec = daemon_set.spec.template.spec
    critical = spec.priority_class_name == _CRITICAL and spec.preemption_policy != "Never"
    return settings.scale_up.force_daemonsets or critical
