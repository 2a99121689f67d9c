"""Kubernetes' own protobuf messages: the fields of pods and nodes that Nodewright knows, by name and number.

Fields that are not listed are not sent, which is legal: the reader finds them empty.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from nodewright_grpc.wire import bytes_field, map_field, number_field, text_field

#: For each message, the attributes of the struct that it is made of, each with its field number and message. For lists
#: and maps, the message is that of each item or value. Without a message it is a string, a number or a boolean.
_MESSAGES = {
    "ObjectMeta": "name 1, namespace 3, labels 11, annotations 12, owner_references 13 OwnerReference",
    "OwnerReference": "kind 1, name 3, uid 4, api_version 5, controller 6",
    "LabelSelector": "match_labels 1, match_expressions 2 Requirement",
    "Requirement": "key 1, operator 2, values 3",
    "Pod": "metadata 1 ObjectMeta, spec 2 PodSpec, status 3 PodStatus",
    "PodSpec": "volumes 1 Volume, containers 2 Container, restart_policy 3, termination_grace_period_seconds 4,"
    " node_selector 7, node_name 10, host_network 11, affinity 18 Affinity, scheduler_name 19,"
    " init_containers 20 Container, tolerations 22 Toleration, priority_class_name 24, priority 25,"
    " preemption_policy 31, overhead 32 Quantity, topology_spread_constraints 33 TopologySpreadConstraint,"
    " resources 40 ResourceRequirements",
    "PodStatus": "phase 1, conditions 2 PodCondition",
    "PodCondition": "type 1, status 2, reason 5",
    "Container": "name 1, ports 6 ContainerPort, resources 8 ResourceRequirements, restart_policy 24",
    "ContainerPort": "host_port 2, protocol 4, host_ip 5",
    "ResourceRequirements": "limits 1 Quantity, requests 2 Quantity",
    "Affinity": "node_affinity 1 NodeAffinity, pod_affinity 2 PodAffinity, pod_anti_affinity 3 PodAffinity",
    "NodeAffinity": "required 1 NodeSelector",
    "NodeSelector": "node_selector_terms 1 NodeSelectorTerm",
    "NodeSelectorTerm": "match_expressions 1 Requirement, match_fields 2 Requirement",
    "PodAffinity": "required 1 PodAffinityTerm",
    "PodAffinityTerm": "label_selector 1 LabelSelector, namespaces 2, topology_key 3,"
    " namespace_selector 4 LabelSelector, match_label_keys 5, mismatch_label_keys 6",
    "TopologySpreadConstraint": "max_skew 1, topology_key 2, when_unsatisfiable 3, label_selector 4 LabelSelector,"
    " min_domains 5, node_affinity_policy 6, node_taints_policy 7, match_label_keys 8",
    "Toleration": "key 1, operator 2, value 3, effect 4, toleration_seconds 5",
    "Volume": "name 1, self 2 VolumeSource",
    "VolumeSource": "empty_dir 2 EmptyDir, persistent_volume_claim 10 ClaimSource",
    "EmptyDir": "medium 1",
    "ClaimSource": "claim_name 1, read_only 2",
    "Node": "metadata 1 ObjectMeta, spec 2 NodeSpec, status 3 NodeStatus",
    "NodeSpec": "provider_id 3, unschedulable 4, taints 5 Taint",
    "Taint": "key 1, value 2, effect 3",
    "NodeStatus": "capacity 1 Quantity, allocatable 2 Quantity, conditions 4 NodeCondition",
    "NodeCondition": "type 1, status 2, reason 5",
}


class _Field(NamedTuple):
    attribute: str
    number: int
    message: str


def encode(message: str, struct: object) -> bytes:
    """Return *struct* as the Kubernetes *message* of that name."""
    return b"".join(
        _field(field, struct if field.attribute == "self" else getattr(struct, field.attribute))
        for field in _fields(message)
    )


def _field(field: _Field, value: Any) -> bytes:
    match value:
        # Zero is not left out: Go distinguishes a priority of 0 from none.
        case None | "":
            return b""
        case tuple():
            return b"".join(_item(field, item) for item in value)
        case Mapping():
            return map_field(field.number, ((key, _content(field.message, each)) for key, each in value.items()))
    return _item(field, value)


def _item(field: _Field, value: Any) -> bytes:
    if isinstance(value, int):
        return number_field(field.number, value)
    return bytes_field(field.number, _content(field.message, value))


def _content(message: str, value: Any) -> bytes:
    if message == "Quantity":
        return text_field(1, str(value))
    return encode(message, value) if message else bytes(value, "utf-8")


@cache
def _fields(message: str) -> tuple[_Field, ...]:
    fields = (stated.split() for stated in _MESSAGES[message].split(", "))
    return tuple(_Field(attribute, int(number), "".join(of)) for attribute, number, *of in fields)
