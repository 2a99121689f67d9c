"""Kubernetes objects as msgspec structs of the fields that decisions read."""

from nodewright.objects.budget import PodDisruptionBudget
from nodewright.objects.capacity_quota import CapacityQuota
from nodewright.objects.meta import Condition, ObjectMeta, OwnerReference
from nodewright.objects.node import Node, NodeSpec, NodeStatus
from nodewright.objects.pod import Container, Pod, PodSpec, PodStatus
from nodewright.objects.quantity import Resources, format_resource, parse_quantity, parse_resources
from nodewright.objects.requests import ResourceRequirements
from nodewright.objects.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from nodewright.objects.taint import Taint, Toleration, untolerated
from nodewright.objects.volume import CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass
from nodewright.objects.workload import ConfigMap, Controller, DaemonSet, Event, Lease, Namespace, PriorityClass

__all__ = [
    "CSINode",
    "CapacityQuota",
    "Condition",
    "ConfigMap",
    "Container",
    "Controller",
    "DaemonSet",
    "Event",
    "LabelSelector",
    "Lease",
    "Namespace",
    "Node",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "ObjectMeta",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "PodSpec",
    "PodStatus",
    "PriorityClass",
    "Requirement",
    "ResourceRequirements",
    "Resources",
    "StorageClass",
    "Taint",
    "Toleration",
    "format_resource",
    "parse_quantity",
    "parse_resources",
    "untolerated",
]
