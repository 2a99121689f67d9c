"""Random kinds of pods, of which some run already and some are pending."""

from typing import Any

from msgspec.structs import replace
from nodewright.objects import (
    Container,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Toleration,
)
from nodewright.objects.node import HOSTNAME, ZONE
from nodewright.objects.pod import ContainerPort
from nodewright.objects.requests import ContainerStatus
from nodewright.objects.volume import ClaimSource, Volume
from nodewright.testing.clock import EPOCH

from .constraints import random_affinity, random_spread
from .dice import Dice
from .mix import Mix
from .names import APPS, FPGA, NAMESPACES, NODE_THAT_HAS_GONE, POD_INDEX, VERSIONS, ZONES
from .storage import Storage

_TOLERATIONS = (
    Toleration(key="dedicated", value="web"),
    Toleration(key="dedicated", operator="Exists", effect="NoExecute"),
    Toleration(key="spot", operator="Exists"),
    Toleration(operator="Exists", effect="NoSchedule"),
)
_SELECTORS = ({"disk": "ssd"}, {ZONE: ZONES[0]}, {ZONE: ZONES[1]}, {"gen": "1"}, {HOSTNAME: "node-1"})
_PORTS = (
    ContainerPort(host_port=80),
    ContainerPort(host_port=80, host_ip="10.0.0.1"),
    ContainerPort(host_port=80, host_ip="10.0.0.2"),
    ContainerPort(host_port=80, host_ip="::"),
    ContainerPort(host_port=80, protocol="UDP"),
    ContainerPort(host_port=443),
    ContainerPort(),
)
#: What may differ between pods of one namespace; volumes may, since claims of that name are in all of them.
_ASPECTS = (
    "containers",
    "init_containers",
    "node_selector",
    "affinity",
    "tolerations",
    "topology_spread_constraints",
    "volumes",
    "priority",
)
_DISKS: tuple[dict[str, Any], ...] = (
    {"gce_persistent_disk": {"pdName": "one"}},
    {"gce_persistent_disk": {"pdName": "one", "readOnly": True}},
    {"gce_persistent_disk": {"pdName": "two"}},
    {"aws_elastic_block_store": {"volumeID": "vol-1", "readOnly": True}},
    {"iscsi": {"iqn": "iqn-1", "lun": 0}},
    {"iscsi": {"iqn": "iqn-1", "lun": 1, "readOnly": True}},
    {"rbd": {"monitors": ["m1", "m2"], "pool": "rbd", "image": "i"}},
    {"rbd": {"monitors": ["m2"], "pool": "rbd", "image": "i", "readOnly": True}},
    {"rbd": {"monitors": ["m3"], "pool": "rbd", "image": "i"}},
    {"empty_dir": None, "host_path": {"path": "/data"}},
)


def random_kind(dice: Dice, mix: Mix, storage: Storage) -> Pod:
    """What all pods of a kind share: everything but name, node and state."""
    app = dice.pick(APPS)
    namespace = dice.pick(("default", "default", *NAMESPACES))
    labels = {"app": app}
    if dice.chance(40):
        labels["version"] = dice.pick(VERSIONS)
    if dice.chance(mix.oddities // 2):
        labels[POD_INDEX] = dice.pick(VERSIONS)
    containers, init_containers = _containers(dice, mix)
    return Pod(
        metadata=ObjectMeta(namespace=namespace, labels=labels),
        spec=PodSpec(
            containers=containers,
            init_containers=init_containers,
            node_selector=dice.pick(_SELECTORS) if dice.chance(mix.node_affinity // 3) else {},
            affinity=random_affinity(dice, mix, app),
            tolerations=dice.some(_TOLERATIONS, 2) if dice.chance(mix.taints) else (),
            topology_spread_constraints=random_spread(dice, mix, app),
            volumes=_volumes(dice, mix, namespace, storage),
            priority=dice.pick((None, 0, 100)),
        ),
    )


def random_kinds(dice: Dice, mix: Mix, storage: Storage) -> list[Pod]:
    """A few kinds of pods; some differ from another in one thing only."""
    kinds = [random_kind(dice, mix, storage)]
    for _ in range(dice.number(0, 3)):
        kind = random_kind(dice, mix, storage)
        kinds.append(_but_for_one_thing(dice, dice.pick(kinds), kind) if dice.chance(40) else kind)
    return kinds


def pending_pods(dice: Dice, mix: Mix, kind: Pod, name: str, count: int, storage: Storage) -> tuple[Pod, ...]:
    """Pods of *kind* that wait for a node; with a claim of its own made for it, a pod is the only one."""
    if count and dice.chance(mix.claims // 4):
        only = _named(replace(kind, spec=_with_ephemeral_volume(kind.spec)), f"{name}-0")
        if not dice.chance(10):
            storage.add_claim(dice, mix, _claim_metadata(only, owned=not dice.chance(10)))
        return (only,)
    return tuple(_named(kind, f"{name}-{number}") for number in range(count))


def running_pod(dice: Dice, mix: Mix, kind: Pod, name: str, node: str) -> Pod:
    """A pod of *kind* on *node*; now and then one that is ending, has ended, or whose node has gone."""
    pod = _named(kind, name)
    status = PodStatus(phase="Running")
    if dice.chance(mix.oddities // 4):
        status = _resized(dice, mix)
    if dice.chance(10):
        pod = replace(pod, metadata=replace(pod.metadata, deletion_timestamp=EPOCH))
    if dice.chance(mix.oddities // 5):
        status = PodStatus(phase="Succeeded")
    if dice.chance(mix.oddities // 6):
        node = NODE_THAT_HAS_GONE
    return replace(pod, spec=replace(pod.spec, node_name=node), status=status)


def _but_for_one_thing(dice: Dice, kind: Pod, other: Pod) -> Pod:
    """The same kind, with one thing as in another."""
    name = dice.pick(("labels", *_ASPECTS))
    if name == "labels":
        return replace(kind, metadata=replace(kind.metadata, labels=other.metadata.labels))
    return replace(kind, spec=replace(kind.spec, **{name: getattr(other.spec, name)}))


def _resized(dice: Dice, mix: Mix) -> PodStatus:
    """The state of a pod that holds something else than it asks for."""
    return PodStatus(
        phase="Running",
        container_statuses=(ContainerStatus(name="main", resources=_requests(dice, mix)),),
        init_container_statuses=(ContainerStatus(name="init", resources=_requests(dice, mix)),),
    )


def _named(kind: Pod, name: str) -> Pod:
    metadata = replace(kind.metadata, name=name, uid=f"uid-{kind.metadata.namespace}-{name}")
    return replace(kind, metadata=metadata)


def _containers(dice: Dice, mix: Mix) -> tuple[tuple[Container, ...], tuple[Container, ...]]:
    ports = dice.some(_PORTS, 2) if dice.chance(mix.ports) else ()
    main = Container(name="main", resources=_requests(dice, mix), ports=ports)
    if not dice.chance(12):
        return (main,), ()
    more_ports = dice.some(_PORTS, 1) if dice.chance(mix.ports) else ()
    restart = dice.pick(("", "Always"))
    return (main,), (Container(name="init", resources=_requests(dice, mix), ports=more_ports, restart_policy=restart),)


def _requests(dice: Dice, mix: Mix) -> ResourceRequirements:
    requests: dict[str, str | int | float] = {}
    if dice.chance(80):
        requests["cpu"] = dice.pick(("100m", "500m", "1", "1500m"))
    if dice.chance(70):
        requests["memory"] = dice.pick(("128Mi", "1Gi", "2Gi"))
    if dice.chance(mix.scarcity // 4):
        requests[FPGA] = dice.pick((1, 1, 0))
    if dice.chance(mix.scarcity // 4):
        requests["ephemeral-storage"] = "1500Mi"
    return ResourceRequirements(requests=requests)


def _volumes(dice: Dice, mix: Mix, namespace: str, storage: Storage) -> tuple[Volume, ...]:
    volumes = []
    if dice.chance(mix.disks):
        volumes = [Volume(name=f"disk-{n}", **disk) for n, disk in enumerate(dice.some(_DISKS, 2))]
    claims = [claim.metadata.name for claim in storage.claims if claim.metadata.namespace == namespace]
    if claims and dice.chance(mix.claims):
        names = dice.some(claims, 3)
        if dice.chance(mix.oddities // 5):
            names = (*names, "claim-that-is-not-there")
        volumes += [Volume(name=name, persistent_volume_claim=ClaimSource(claim_name=name)) for name in names]
    return tuple(volumes)


def _with_ephemeral_volume(spec: PodSpec) -> PodSpec:
    return replace(spec, volumes=(*spec.volumes, Volume(name="scratch", ephemeral={"volumeClaimTemplate": {}})))


def _claim_metadata(pod: Pod, *, owned: bool) -> ObjectMeta:
    owner = OwnerReference(kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True)
    return ObjectMeta(
        name=f"{pod.metadata.name}-scratch",
        namespace=pod.metadata.namespace,
        owner_references=(owner,) if owned else (),
    )
