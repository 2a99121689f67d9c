"""Controllers of pods, and the other objects that decisions read besides pods and nodes."""

from datetime import datetime

from nodewright.objects.frozen import EMPTY, freeze
from nodewright.objects.meta import KubeStruct, ObjectMeta, OwnerReference
from nodewright.objects.pod import Pod, PodSpec


class PodTemplate(KubeStruct, frozen=True, kw_only=True):
    """What the pods of a controller look like."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()


class ScaleSpec(KubeStruct, frozen=True, kw_only=True):
    """How many pods a controller wants. Jobs have no such field."""

    replicas: int | None = None


class ControllerName(KubeStruct, frozen=True, kw_only=True):
    """The name of a controller. There are many controllers, and decisions read none of their labels."""

    name: str = ""
    namespace: str = ""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class Controller(KubeStruct, frozen=True, kw_only=True):
    """A ReplicaSet, ReplicationController, StatefulSet or Job: its existence, and its size if it has one."""

    metadata: ControllerName = ControllerName()
    spec: ScaleSpec = ScaleSpec()


class DaemonSetSpec(KubeStruct, frozen=True, kw_only=True):
    """The specification of a DaemonSet."""

    template: PodTemplate = PodTemplate()


class DaemonSet(KubeStruct, frozen=True, kw_only=True):
    """One pod per suitable node."""

    metadata: ObjectMeta = ObjectMeta()
    spec: DaemonSetSpec = DaemonSetSpec()

    @property
    def pod(self) -> Pod:
        """The pod that this DaemonSet would start on a suitable node."""
        template = self.spec.template
        return Pod(
            metadata=ObjectMeta(
                name=self.metadata.name,
                namespace=self.metadata.namespace,
                labels=template.metadata.labels,
                annotations=template.metadata.annotations,
                owner_references=(
                    OwnerReference(
                        kind="DaemonSet",
                        name=self.metadata.name,
                        uid=self.metadata.uid,
                        api_version="apps/v1",
                        controller=True,
                    ),
                ),
            ),
            spec=template.spec,
        )


class Namespace(KubeStruct, frozen=True, kw_only=True):
    """A namespace; selectors look at its labels."""

    metadata: ObjectMeta = ObjectMeta()


class PriorityClass(KubeStruct, frozen=True, kw_only=True):
    """A named priority."""

    metadata: ObjectMeta = ObjectMeta()
    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


class LeaseSpec(KubeStruct, frozen=True, kw_only=True):
    """Who holds a lease."""

    holder_identity: str = ""
    lease_duration_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    lease_transitions: int = 0


class Lease(KubeStruct, frozen=True, kw_only=True):
    """A lease, as leader election uses it."""

    metadata: ObjectMeta = ObjectMeta()
    spec: LeaseSpec = LeaseSpec()


class ConfigMap(KubeStruct, frozen=True, kw_only=True):
    """Configuration data."""

    metadata: ObjectMeta = ObjectMeta()
    data: dict[str, str] = EMPTY

    def __post_init__(self) -> None:
        freeze(self, "data")


class ObjectReference(KubeStruct, frozen=True, kw_only=True):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class Event(KubeStruct, frozen=True, kw_only=True):
    """Something that happened to an object."""

    metadata: ObjectMeta = ObjectMeta()
    involved_object: ObjectReference = ObjectReference()
    reason: str = ""
    message: str = ""
    type: str = "Normal"
    count: int = 1
