"""Kubernetes objects as msgspec structs of the fields that decisions read."""

from nodewright.objects.budget import PodDisruptionBudget
from nodewright.objects.meta import Condition, ObjectMeta, OwnerReference
from nodewright.objects.node import Node, NodeSpec, NodeStatus
from nodewright.objects.pod import Container, Pod, PodSpec, PodStatus
from nodewright.objects.quantity import Resources, format_resource, parse_quantity, parse_resources
from nodewright.objects.requests import ResourceRequirements
from nodewright.objects.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from nodewright.objects.taint import Taint, Toleration, untolerated
from nodewright.objects.workload import DaemonSet

__all__ = [
    "Condition",
    "Container",
    "DaemonSet",
    "LabelSelector",
    "Node",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "ObjectMeta",
    "OwnerReference",
    "Pod",
    "PodDisruptionBudget",
    "PodSpec",
    "PodStatus",
    "Requirement",
    "ResourceRequirements",
    "Resources",
    "Taint",
    "Toleration",
    "format_resource",
    "parse_quantity",
    "parse_resources",
    "untolerated",
]
