"""Kubernetes objects: everything that a `Pod`, a `Node` or another object in an argument is made of.

They are frozen msgspec structs with the fields that decisions read. `msgspec.structs.replace` makes changed copies. The
builders of `nodewright.testing` make objects with defaults that work.
"""

from nodewright.api.attribute_docs import show_attributes
from nodewright.objects.affinity import (
    Affinity,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    TopologySpreadConstraint,
)
from nodewright.objects.budget import BudgetSpec, BudgetStatus, PodDisruptionBudget
from nodewright.objects.meta import Condition, KubeStruct, ObjectMeta, OwnerReference
from nodewright.objects.node import (
    DELETION_CANDIDATE,
    HOSTNAME,
    INSTANCE_TYPE,
    SCALE_DOWN_DISABLED,
    TO_BE_DELETED,
    UNSCHEDULABLE,
    ZONE,
    Node,
    NodeSpec,
    NodeStatus,
)
from nodewright.objects.pod import (
    Container,
    ContainerPort,
    Pod,
    PodSpec,
    PodStatus,
    Scheduling,
)
from nodewright.objects.requests import ContainerStatus, ResourceRequirements
from nodewright.objects.selector import LabelSelector, NodeSelector, NodeSelectorTerm, Requirement
from nodewright.objects.taint import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, Taint, Toleration, untolerated
from nodewright.objects.volume import (
    ClaimReference,
    ClaimResources,
    ClaimSource,
    ClaimSpec,
    ClaimStatus,
    CSINode,
    CSINodeSpec,
    CsiSource,
    DriverLimit,
    EmptyDir,
    NodeDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologyTerm,
    Volume,
    VolumeNodeAffinity,
    VolumeSpec,
    VolumeStatus,
)
from nodewright.objects.workload import DaemonSet, DaemonSetSpec, PodTemplate

__all__ = [
    "DELETION_CANDIDATE",
    "HOSTNAME",
    "INSTANCE_TYPE",
    "NO_EXECUTE",
    "NO_SCHEDULE",
    "PREFER_NO_SCHEDULE",
    "SCALE_DOWN_DISABLED",
    "TO_BE_DELETED",
    "UNSCHEDULABLE",
    "ZONE",
    "Affinity",
    "BudgetSpec",
    "BudgetStatus",
    "CSINode",
    "CSINodeSpec",
    "ClaimReference",
    "ClaimResources",
    "ClaimSource",
    "ClaimSpec",
    "ClaimStatus",
    "Condition",
    "Container",
    "ContainerPort",
    "ContainerStatus",
    "CsiSource",
    "DaemonSet",
    "DaemonSetSpec",
    "DriverLimit",
    "EmptyDir",
    "KubeStruct",
    "LabelSelector",
    "Node",
    "NodeAffinity",
    "NodeDriver",
    "NodeSelector",
    "NodeSelectorTerm",
    "NodeSpec",
    "NodeStatus",
    "ObjectMeta",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodSpec",
    "PodStatus",
    "PodTemplate",
    "Requirement",
    "ResourceRequirements",
    "Scheduling",
    "StorageClass",
    "Taint",
    "Toleration",
    "TopologySpreadConstraint",
    "TopologyTerm",
    "Volume",
    "VolumeNodeAffinity",
    "VolumeSpec",
    "VolumeStatus",
    "untolerated",
]

show_attributes(vars(), __all__)
