"""The template of a group: what is known of its next machines, and in which zone the next one is expected."""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodewright.api import NodeTemplate, NodewrightError, PermanentError, Pod, Taint
from nodewright.api.objects import Container, ObjectMeta, PodSpec, ResourceRequirements

from nodewright_gce.config.templates import FlexibleTypes, TemplateSettings
from nodewright_gce.machine_types.hardware import HARDWARE_ANNOTATION, write
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.migs.managed_group import ManagedGroup
from nodewright_gce.pools import POOLS_ANNOTATION, Pool
from nodewright_gce.resources.instance_template import InstanceTemplate, ReservationAffinity, TemplateProperties
from nodewright_gce.resources.resource import last_part
from nodewright_gce.templates.group_metadata import GroupMetadata
from nodewright_gce.templates.kube_env import KubeEnv
from nodewright_gce.templates.launch import Launch, launch_of
from nodewright_gce.templates.node_metadata import NodeMetadata
from nodewright_gce.templates.quotas import quotas_of
from nodewright_gce.templates.setup import distribution_of, image_of, setup_of
from nodewright_gce.templates.type_template import ARCH, INSTANCE_TYPE, TypeTemplate, choose, least, type_template

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
#: Labels of templates with the zone.
ZONE_LABELS = frozenset({ZONE, "topology.gke.io/zone"})

#: Cluster Autoscaler's annotations, which its prices are made of.
_CA = "cluster-autoscaler/gce/"
_KOPS_GROUP_LABEL, _KOPS_ROLE_LABEL = "kops.k8s.io/instancegroup", "node-role.kubernetes.io/node"
_SPOT_LABEL, _PREEMPTIBLE_LABEL = "cloud.google.com/gke-spot", "cloud.google.com/gke-preemptible"
_PROVISIONING_LABEL = "cloud.google.com/gke-provisioning"
#: GKE keeps pods off Arm machines that do not ask for them.
_ARM_TAINT = Taint(key=ARCH, value="arm64", effect="NoSchedule")
#: As GKE and Cluster Autoscaler have it.
_KUBE_PROXY = Pod(
    metadata=ObjectMeta(
        name="kube-proxy", namespace="kube-system", annotations={"kubernetes.io/config.mirror": "template"}
    ),
    spec=PodSpec(
        containers=(Container(name="kube-proxy", resources=ResourceRequirements(requests={"cpu": "100m"})),),
        host_network=True,
    ),
)


@dataclass(frozen=True, kw_only=True)
class TemplateInputs:
    """What the template of a group is made from."""

    template: InstanceTemplate
    #: At least one.
    types: tuple[MachineTypeInfo, ...]
    zones: tuple[str, ...]
    region: str
    metadata: GroupMetadata


@dataclass(frozen=True, kw_only=True)
class GroupTemplate:
    """What is known of a group's next machines."""

    #: None if they are unknown.
    inputs: TemplateInputs | None = None
    metadata: GroupMetadata = field(default_factory=GroupMetadata)
    launches: tuple[Launch, ...] = ()
    pools: tuple[Pool, ...] = ()
    quotas: Mapping[str, int] = field(default_factory=dict)
    template: NodeTemplate | None = None
    #: Set if the group must not be scaled without a template: why there is none.
    error: NodewrightError | None = None
    #: By machine type.
    by_type: Mapping[str, TypeTemplate] = field(default_factory=dict)
    #: What people should know: sentences by a key that identifies each.
    troubles: Mapping[Hashable, str] = field(default_factory=dict)

    def complete(self, template: NodeTemplate, choice: FlexibleTypes) -> NodeTemplate:
        """Return *template*, which may be taken from a real node, corrected for the next machine."""
        capacity, allocatable = dict(template.capacity), dict(template.allocatable)
        own = self.by_type.get(template.labels.get(INSTANCE_TYPE, ""))
        if choice is FlexibleTypes.SMALLEST and own is not None and self.template is not None:
            self._lower(capacity, own.capacity, self.template.capacity)
            self._lower(allocatable, own.allocatable, self.template.allocatable)
        extra = self.metadata.resources
        foreseen = self.template.annotations if self.template is not None else {}
        return replace(
            template,
            annotations={**template.annotations, **foreseen},
            capacity={**extra, **capacity},
            allocatable={**extra, **allocatable},
        )

    def in_zone(self, zone: str, possible: tuple[str, ...]) -> "GroupTemplate":
        """Return the same with the next machine in *zone*, which is one of the *possible* zones."""
        if self.template is None:
            return self
        labels = {**self.template.labels, **dict.fromkeys(ZONE_LABELS & self.template.labels.keys(), zone)}
        return replace(self, template=replace(self.template, labels=labels, zones=possible))

    def _lower(self, real: dict[str, int], own: Mapping[str, int], least_of_all: Mapping[str, int]) -> None:
        """Lower the resources in *real* of which other types have less than the node's *own* type."""
        for resource in real.keys() & own.keys():
            if least_of_all.get(resource, 0) < own[resource]:
                real[resource] = min(real[resource], least_of_all.get(resource, 0))


def make_group_template(inputs: TemplateInputs, settings: TemplateSettings) -> GroupTemplate:
    """Return the template of a group, with the next machine in its first zone."""
    properties = inputs.template.properties
    metadata = inputs.metadata
    env, own = metadata.env, metadata.own
    _refuse_windows(env, properties)
    launches = tuple(launch_of(info, properties, spot=inputs.template.spot) for info in inputs.types)
    labels = {**_labels_of_installers(inputs), **env.labels, **own.labels}
    distribution = distribution_of(properties, env, settings.kubelet)
    by_type = {
        launch.info.name: type_template(
            launch, setup_of(launch, distribution, env, own, settings.kubelet), labels, metadata.resources
        )
        for launch in launches
    }
    chosen = choose(tuple(by_type.values()), settings.flexible_types)
    pools = _pools(inputs, launches)
    zone = next(iter(inputs.zones), "")
    template = NodeTemplate(
        labels={**_place(zone, inputs.region), **chosen.labels, **labels},
        annotations={
            POOLS_ANNOTATION: ",".join(map(str, pools)),
            HARDWARE_ANNOTATION: write(launch.hardware(inputs.region) for launch in launches),
            **_annotations_of_ca(launches[0], env),
        },
        taints=_taints(env, own, chosen),
        capacity=chosen.capacity,
        allocatable=chosen.allocatable,
        pods=(_KUBE_PROXY,) if _has_kube_proxy(env, settings) else (),
        csi_drivers=chosen.csi_drivers,
    )
    return GroupTemplate(
        inputs=inputs,
        metadata=metadata,
        launches=launches,
        pools=pools,
        quotas=least(quotas_of(launch, inputs.region) for launch in launches),
        template=template,
        by_type=by_type,
    )


def _refuse_windows(env: KubeEnv, properties: TemplateProperties) -> None:
    if env.os != "linux" or "windows" in image_of(properties):
        raise PermanentError(
            "new nodes are foreseen with Linux only: keep a node in the group, which is then the model"
        )


def next_zone(group: ManagedGroup, possible: Collection[str]) -> str:
    """Return which of the *possible* zones (at least one) the next machine of *group* is expected in.

    Google evens out the zones of a group, and launches elsewhere if a zone has no capacity. A group that keeps to a
    single zone stays in it.
    """
    counts = Counter(zone_of(member.instance) for member in group.members)
    sign = -1 if group.mig.distribution_policy.target_shape == "ANY_SINGLE_ZONE" else 1
    return min(possible, key=lambda zone: (sign * counts[zone], zone))


def zone_of(url: str) -> str:
    """Return the zone in the URL of a machine; empty if there is none."""
    return url.partition("/zones/")[2].partition("/")[0]


def _place(zone: str, region: str) -> dict[str, str]:
    """Return the labels of a node in *region* and in *zone*, if that is known."""
    return {REGION: region} | (dict.fromkeys(sorted(ZONE_LABELS), zone) if zone else {})


def _labels_of_installers(inputs: TemplateInputs) -> dict[str, str]:
    """Return the labels that GKE and kOps give nodes, where ``kube-env`` may not name them."""
    labels: dict[str, str] = {}
    if group := inputs.metadata.kops_group:
        labels |= {_KOPS_GROUP_LABEL: group, _KOPS_ROLE_LABEL: ""}
    if inputs.metadata.env.gke and inputs.template.spot:
        legacy = inputs.template.properties.scheduling.provisioning_model != "SPOT"
        labels |= {_PREEMPTIBLE_LABEL: "true"} if legacy else {_SPOT_LABEL: "true", _PROVISIONING_LABEL: "spot"}
    return labels


def _pools(inputs: TemplateInputs, launches: Sequence[Launch]) -> tuple[Pool, ...]:
    reservations = _reservations(inputs.template.properties.reservation_affinity)
    if reservations:
        return tuple(Pool(zone=zone, reservation=name) for zone in inputs.zones for name in reservations)
    return tuple(
        Pool(zone=zone, machine_type=launch.info.name, spot=launch.spot) for zone in inputs.zones for launch in launches
    )


def _reservations(affinity: ReservationAffinity) -> tuple[str, ...]:
    """Return the names of the only reservations that machines may be taken from; nothing if others are fine."""
    if affinity.consume_reservation_type != "SPECIFIC_RESERVATION":
        return ()
    return tuple(last_part(each.partition("/reservationBlocks/")[0]) for each in affinity.values)


def _annotations_of_ca(launch: Launch, env: KubeEnv) -> dict[str, str]:
    return {
        f"{_CA}local-ssd-count": str(launch.local_ssds),
        f"{_CA}boot-disk-type": launch.boot_disk,
        f"{_CA}boot-disk-size": str(launch.boot_disk_gib),
    } | ({f"{_CA}ephemeral-storage-local-ssd": "true"} if env.storage_ssds else {})


def _taints(env: KubeEnv, own: NodeMetadata, chosen: TypeTemplate) -> tuple[Taint, ...]:
    """Return all taints; of two with the same key and effect, that of our own metadata."""
    arm = (_ARM_TAINT,) if env.gke and chosen.labels.get(ARCH) == "arm64" else ()
    return tuple({(taint.key, taint.effect): taint for taint in (*arm, *env.taints, *own.taints)}.values())


def _has_kube_proxy(env: KubeEnv, settings: TemplateSettings) -> bool:
    told = settings.kubelet.kube_proxy
    return env.gke and not env.kube_proxy_daemon_set if told is None else told
