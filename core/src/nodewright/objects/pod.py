"""Pods: the fields that a scheduler and an autoscaler read."""

from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cached_property

from msgspec import field

from nodewright.objects.affinity import Affinity, TopologySpreadConstraint
from nodewright.objects.frozen import EMPTY, freeze
from nodewright.objects.meta import Condition, KubeStruct, ObjectMeta, Time
from nodewright.objects.quantity import Resources
from nodewright.objects.requests import ContainerStatus, ResourceRequirements, pod_requests
from nodewright.objects.taint import Toleration
from nodewright.objects.volume import Volume

#: The annotation that says whether a pod may be evicted: ``true`` or ``false``.
SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
#: Phases of pods that have ended.
FINAL_PHASES = ("Succeeded", "Failed")
DEFAULT_SCHEDULER = "default-scheduler"
#: How long a pod may take to terminate beyond its grace period.
_GRACE_HEADROOM = timedelta(seconds=30)
_NEVER = datetime.max.replace(tzinfo=UTC)


class ContainerPort(KubeStruct, frozen=True, kw_only=True):
    """A port of a container; only host ports matter for placement."""

    host_port: int = 0
    host_ip: str = field(default="", name="hostIP")
    protocol: str = "TCP"


class Container(KubeStruct, frozen=True, kw_only=True):
    """A container: the fields that placement depends on."""

    name: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] = ()
    restart_policy: str = ""


class PodSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a pod."""

    node_name: str = ""
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    resources: ResourceRequirements | None = None
    overhead: dict[str, str | int | float] = EMPTY
    node_selector: dict[str, str] = EMPTY
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    host_network: bool = False
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    scheduler_name: str = DEFAULT_SCHEDULER
    restart_policy: str = "Always"
    termination_grace_period_seconds: int | None = None

    def __post_init__(self) -> None:
        freeze(self, "overhead", "node_selector")


class PodStatus(KubeStruct, frozen=True, kw_only=True):
    """The observed state of a pod."""

    phase: str = "Pending"
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    start_time: Time | None = None
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()


class Scheduling(Enum):
    """What a scheduler has said so far about a pod without a node."""

    UNTRIED = "nothing: it has not looked at it"
    FAILED = "that no node fits"
    HELD_BACK = "something else: the pod is gated, or the scheduler failed"


class Pod(KubeStruct, frozen=True, kw_only=True, dict=True, gc=True):
    """A pod. Malformed quantities surface as `ValueError` from `requests`, which is kept: every estimate asks."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return self.metadata.key

    @property
    def finished(self) -> bool:
        """Whether the pod has finished and holds no resources any more."""
        return self.status.phase in FINAL_PHASES

    @property
    def grace_seconds(self) -> int:
        """How long the pod may take to terminate."""
        grace = self.spec.termination_grace_period_seconds
        return 30 if grace is None else grace

    def gone_by(self, deleted: datetime) -> datetime:
        """Return the time after which the pod counts as gone, if its deletion began at *deleted*."""
        try:
            return deleted + timedelta(seconds=self.grace_seconds) + _GRACE_HEADROOM
        except OverflowError:
            return _NEVER

    @property
    def is_mirror(self) -> bool:
        """Whether the pod mirrors a static pod of a kubelet, which can't be moved."""
        return MIRROR in self.metadata.annotations

    @property
    def is_daemon(self) -> bool:
        """Whether the pod belongs to a DaemonSet, so that it exists as long as its node."""
        owner = self.metadata.controller
        return owner is not None and owner.kind == "DaemonSet"

    def is_expendable(self, cutoff: int) -> bool:
        """Return whether the pod is expendable: it leads to no new node and holds no room. Needs a priority."""
        return self.spec.priority is not None and self.spec.priority < cutoff

    @property
    def scheduler(self) -> str:
        """The name of the pod's scheduler."""
        return self.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def scheduling(self) -> Scheduling:
        """What the scheduler has said so far, if the pod has no node."""
        told = next((condition for condition in self.status.conditions if condition.type == "PodScheduled"), None)
        if told is None or (told.status == "False" and not told.reason):
            return Scheduling.UNTRIED
        if told.status == "False" and told.reason == "Unschedulable":
            return Scheduling.FAILED
        return Scheduling.HELD_BACK

    @property
    def marked_unschedulable(self) -> bool:
        """Whether the scheduler tried to place the pod and said that no node fits."""
        return self.scheduling is Scheduling.FAILED

    @cached_property
    def requests(self) -> Resources:
        """What the pod takes from a node, by the scheduler's formula; the pod itself counts as one of ``pods``."""
        return pod_requests(self.spec, self.status)
