"""Nodes: labels, taints, resources and readiness."""

from datetime import datetime
from functools import cached_property

from msgspec import field

from nodewright.objects.frozen import EMPTY, FrozenDict, freeze
from nodewright.objects.meta import Condition, KubeStruct, ObjectMeta
from nodewright.objects.quantity import Resources, parse_resources
from nodewright.objects.taint import Taint

#: The taint of a node that is being removed: no pod is placed there, and its value is the time at which that began.
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
#: The soft taint of an unneeded node: its value is the time since when it is unneeded.
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
#: The annotation of a node that was cordoned already when its removal began.
CORDONED_BEFORE = "nodewright.dev/cordoned-before"
#: The taint that a controller of Kubernetes sets on cordoned nodes.
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
#: The annotation of a node that is not to be removed, with the value ``true``.
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
#: The label with the name of the host, which is that of its node.
HOSTNAME = "kubernetes.io/hostname"
#: The label with the zone.
ZONE = "topology.kubernetes.io/zone"
#: The label with the type of the machine.
INSTANCE_TYPE = "node.kubernetes.io/instance-type"

_UNREADY_TAINTS = frozenset(
    f"node.kubernetes.io/{problem}" for problem in ("not-ready", "disk-pressure", "network-unavailable")
)
_READINESS_CONDITIONS = frozenset(["Ready", "DiskPressure", "NetworkUnavailable"])


class NodeSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a node."""

    provider_id: str = field(default="", name="providerID")
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(KubeStruct, frozen=True, kw_only=True):
    """The observed state of a node."""

    capacity: dict[str, str | int | float] = EMPTY
    allocatable: dict[str, str | int | float] = EMPTY
    conditions: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "capacity", "allocatable")


class Node(KubeStruct, frozen=True, kw_only=True, dict=True, gc=True):
    """A node. Malformed quantities surface as `ValueError` from `capacity` and `allocatable`.

    Computed properties are cached: every loop needs them.
    """

    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def name(self) -> str:
        """The node's name."""
        return self.metadata.name

    @cached_property
    def capacity(self) -> Resources:
        """The resources of the machine."""
        return FrozenDict(parse_resources(self.status.capacity))

    @cached_property
    def size(self) -> tuple[tuple[str, int], ...]:
        """The capacity in a form that can be compared."""
        return tuple(sorted(self.capacity.items()))

    @cached_property
    def allocatable(self) -> Resources:
        """The part of the capacity that pods may use."""
        return FrozenDict(parse_resources(self.status.allocatable or self.status.capacity))

    @cached_property
    def ready(self) -> bool:
        """Whether the node counts as ready: condition Ready, no disk or network trouble in condition or taint."""
        states = {condition.type: condition.status for condition in self.status.conditions}
        if states.get("Ready") != "True":
            return False
        if "True" in (states.get("DiskPressure"), states.get("NetworkUnavailable")):
            return False
        return not self.spec.taints or not any(taint.key in _UNREADY_TAINTS for taint in self.spec.taints)

    @cached_property
    def ready_since(self) -> datetime | None:
        """When the readiness of the node last changed; None if this is unknown."""
        changes = (each.last_transition_time for each in self.status.conditions if each.type in _READINESS_CONDITIONS)
        return max((change for change in changes if change is not None), default=None)

    def taint(self, key: str) -> Taint | None:
        """Return the node's taint named *key*, if it has one."""
        return next((taint for taint in self.spec.taints if taint.key == key), None)
