"""Small worlds for tests: every builder has defaults that work, so that a test names only what it is about.

Amounts are written as in Kubernetes (``"500m"``, ``"1Gi"``). All times default to `nodewright.testing.clock.EPOCH`,
but pods came a minute before: one that has only just come would not be decided about.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec.structs import replace

from nodewright.api import (
    DaemonSet,
    ErrorClass,
    GroupFacts,
    GroupOptions,
    Instance,
    InstanceError,
    InstanceState,
    Node,
    NodeTemplate,
    Option,
    Pod,
    PodSet,
    Taint,
    Toleration,
    parse_resources,
)
from nodewright.objects.affinity import Affinity, PodAffinity, PodAffinityTerm
from nodewright.objects.meta import Condition, ObjectMeta, OwnerReference
from nodewright.objects.node import HOSTNAME, INSTANCE_TYPE, ZONE, NodeSpec, NodeStatus
from nodewright.objects.pod import Container, PodSpec, PodStatus
from nodewright.objects.requests import ResourceRequirements
from nodewright.objects.selector import LabelSelector
from nodewright.objects.workload import DaemonSetSpec, PodTemplate
from nodewright.testing.clock import EPOCH

GPU = "nvidia.com/gpu"
UNSCHEDULABLE = Condition(type="PodScheduled", status="False", reason="Unschedulable", last_transition_time=EPOCH)


def a_pod(
    name: str = "web",
    *,
    namespace: str = "default",
    cpu: str = "100m",
    memory: str = "128Mi",
    gpus: int = 0,
    requests: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    owner: str = "ReplicaSet/web",
    node: str = "",
    node_selector: Mapping[str, str] | None = None,
    tolerations: Iterable[Toleration] = (),
    priority: int | None = None,
    created: datetime = EPOCH - timedelta(minutes=1),
) -> Pod:
    """A pod that runs on *node*, or pending and marked unschedulable if no node is given.

    *gpus* are Nvidia's; *requests* adds to what is asked for (``{"example.com/disk": "1"}``), or replaces it. *owner*
    is ``Kind/name``, empty for a bare pod.
    """
    kind, _, owner_name = owner.partition("/")
    owners = (OwnerReference(kind=kind, name=owner_name, uid=f"uid-of-{owner}", controller=True),) if owner else ()
    amounts: dict[str, str | int | float] = {"cpu": cpu, "memory": memory, **_gpus(gpus), **(requests or {})}
    return Pod(
        metadata=_metadata(name, namespace, labels, annotations, created, owners),
        spec=PodSpec(
            node_name=node,
            containers=(Container(name="main", resources=ResourceRequirements(requests=amounts)),),
            node_selector=dict(node_selector or {}),
            tolerations=tuple(tolerations),
            priority=priority,
        ),
        status=PodStatus(phase="Running") if node else PodStatus(conditions=(UNSCHEDULABLE,)),
    )


def pods_like(pod: Pod, count: int) -> PodSet:
    """A set of *count* pods that a scheduler can't tell from *pod*, named after it and numbered from 0."""
    return PodSet(pod=pod, keys=tuple(f"{pod.key}-{number}" for number in range(count)))


def keeping_apart(pod: Pod) -> Pod:
    """The same pod, but no two of its kind can be on one node (of those that carry their host name as a label)."""
    labels = {**pod.metadata.labels, "apart": pod.metadata.name}
    term = PodAffinityTerm(
        topology_key=HOSTNAME, label_selector=LabelSelector(match_labels={"apart": pod.metadata.name})
    )
    affinity = Affinity(pod_anti_affinity=PodAffinity(required=(term,)))
    return replace(pod, metadata=replace(pod.metadata, labels=labels), spec=replace(pod.spec, affinity=affinity))


def a_daemon_set(name: str = "agent", *, cpu: str = "100m", memory: str = "128Mi") -> DaemonSet:
    """A DaemonSet that puts a pod of this size on every node."""
    template = PodTemplate(spec=a_pod(name, cpu=cpu, memory=memory).spec)
    return DaemonSet(
        metadata=ObjectMeta(name=name, namespace="kube-system", uid=f"uid-of-DaemonSet/{name}"),
        spec=DaemonSetSpec(template=template),
    )


def a_node(
    name: str = "node-1",
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    gpus: int = 0,
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    zone: str = "",
    instance_type: str = "",
    taints: Iterable[Taint] = (),
    ready: bool = True,
    unschedulable: bool = False,
    provider_id: str | None = None,
    created: datetime = EPOCH,
) -> Node:
    """A node, all of whose resources pods may use; its provider ID is ``fake://`` and its name unless given."""
    capacity = _capacity(cpu, memory, pods, gpus, resources)
    return Node(
        metadata=_metadata(name, "", _labels(labels, zone, instance_type), annotations, created),
        spec=NodeSpec(
            provider_id=f"fake://{name}" if provider_id is None else provider_id,
            unschedulable=unschedulable,
            taints=tuple(taints),
        ),
        status=NodeStatus(
            capacity=capacity,
            allocatable=capacity,
            conditions=(Condition(type="Ready", status=str(ready), last_transition_time=created),),
        ),
    )


def a_template(
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    gpus: int = 0,
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    zone: str = "",
    instance_type: str = "",
    taints: Iterable[Taint] = (),
) -> NodeTemplate:
    """What a new node looks like; all of its resources may be used by pods."""
    capacity = parse_resources(_capacity(cpu, memory, pods, gpus, resources))
    return NodeTemplate(
        labels=_labels(labels, zone, instance_type), taints=tuple(taints), capacity=capacity, allocatable=capacity
    )


def an_instance(
    id: str = "fake://group-a-0",  # noqa: A002  the field's own name
    *,
    state: InstanceState = InstanceState.RUNNING,
    zone: str = "",
    instance_type: str = "",
) -> Instance:
    """A machine of a group, as its provider sees it."""
    return Instance(id=id, state=state, zone=zone, instance_type=instance_type)


def a_failed_instance(
    id: str = "fake://group-a-0",  # noqa: A002  the field's own name
    *,
    error_class: ErrorClass = ErrorClass.STOCK_OUT,
    code: str = "NoMachinesLeft",
    message: str = "",
    pool: str = "",
) -> Instance:
    """A machine that was ordered and will never come, and why."""
    error = InstanceError(error_class=error_class, code=code, message=message, pool=pool)
    return Instance(id=id, state=InstanceState.CREATING, error=error)


def a_group(
    id: str = "group-a",  # noqa: A002  the field's own name
    *,
    size: int = 0,
    min_size: int = 0,
    max_size: int = 10,
    price: float | None = None,
    provider: str = "fake",
    template: NodeTemplate | None = None,
    zone: str = "",
    labels: Mapping[str, str] | None = None,
    instances: Iterable[Instance] | None = None,
    options: GroupOptions | None = None,
) -> GroupFacts:
    """What a provider says about a group of *size* running machines at *price* for an hour.

    *zone* and *labels* are those of its template; give a *template* of one's own instead for anything else.
    """
    if instances is None:
        instances = (Instance(id=f"fake://{id}-{n}", state=InstanceState.RUNNING) for n in range(size))
    return GroupFacts(
        id=id,
        provider=provider,
        min_size=min_size,
        max_size=max_size,
        target_size=size,
        instances=tuple(instances),
        template=template or a_template(zone=zone, labels=labels),
        options=options or GroupOptions(),
        hourly_price=price,
    )


def an_option(
    group: GroupFacts | str = "group-a",
    *,
    nodes: int = 1,
    pods: Iterable[PodSet] | int = 1,
    similar: Iterable[str] = (),
    limit: int = 0,
) -> Option:
    """The way to grow *group* (or a default group of that name) by *nodes*, which helps *pods* (or so many).

    *limit* is how many nodes the group may gain at most, if that is more.
    """
    return Option(
        group=a_group(group) if isinstance(group, str) else group,
        nodes=nodes,
        pods=(pods_like(a_pod(), pods),) if isinstance(pods, int) else tuple(pods),
        similar=tuple(similar),
        limit=limit,
    )


def _metadata(
    name: str,
    namespace: str,
    labels: Mapping[str, str] | None,
    annotations: Mapping[str, str] | None,
    created: datetime,
    owners: tuple[OwnerReference, ...] = (),
) -> ObjectMeta:
    if created.tzinfo is None:
        raise ValueError(f"{name} was created at {created}: give it a time zone, such as UTC")
    return ObjectMeta(
        name=name,
        namespace=namespace,
        uid=f"uid-of-{namespace}/{name}",
        labels=dict(labels or {}),
        annotations=dict(annotations or {}),
        owner_references=owners,
        creation_timestamp=created,
    )


def _capacity(
    cpu: str, memory: str, pods: int, gpus: int, resources: Mapping[str, str] | None
) -> dict[str, str | int | float]:
    return {"cpu": cpu, "memory": memory, "pods": pods, **_gpus(gpus), **(resources or {})}


def _gpus(count: int) -> dict[str, str | int | float]:
    return {GPU: count} if count else {}


def _labels(labels: Mapping[str, str] | None, zone: str, instance_type: str) -> dict[str, str]:
    well_known = {ZONE: zone, INSTANCE_TYPE: instance_type}
    return {key: value for key, value in well_known.items() if value} | dict(labels or {})
