"""Random workloads: pods that run and pods that wait, their controllers and disruption budgets."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .dice import Dice, ago, stamp
from .groups import FPGA, GPU, HOSTNAME, ZONE, Fleet
from .storage import Storage
from .theme import Theme

NAMESPACES = ("default", "default", "team-a", "team-b", "kube-system")
_APPS = ("web", "db", "cache")
_CONTROLLERS = {
    "ReplicaSet": "replicaSets",
    "StatefulSet": "statefulSets",
    "Job": "jobs",
    "ReplicationController": "replicationControllers",
}
_KINDS = ("ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet", "Job", "ReplicationController", "Custom", "")
_TOLERATIONS: tuple[dict[str, str], ...] = (
    {"key": "dedicated", "operator": "Equal", "value": "web"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"},
    {"key": "maintenance", "operator": "Exists"},
    {"operator": "Exists", "effect": "NoSchedule"},
)
_SELECTORS: tuple[dict[str, str], ...] = (
    {"disk": "ssd"},
    {ZONE: "zone-a"},
    {ZONE: "zone-b"},
    {"pool": "base"},
    {"pool": "nowhere"},
)
_LINES: tuple[dict[str, Any], ...] = (
    {"key": ZONE, "operator": "In", "values": ["zone-a", "zone-b"]},
    {"key": ZONE, "operator": "NotIn", "values": ["zone-a"]},
    {"key": "rack", "operator": "Exists"},
    {"key": "rack", "operator": "DoesNotExist"},
    {"key": "gen", "operator": "Gt", "values": ["1"]},
    {"key": "gen", "operator": "Lt", "values": ["3"]},
    {"key": HOSTNAME, "operator": "NotIn", "values": ["base-0-n0"]},
)
_PORTS: tuple[dict[str, Any], ...] = (
    {"hostPort": 80},
    {"hostPort": 80, "hostIP": "10.0.0.1"},
    {"hostPort": 80, "protocol": "UDP"},
    {"hostPort": 443},
)
_DISKS: tuple[dict[str, Any], ...] = (
    {"emptyDir": {}},
    {"emptyDir": {"medium": "Memory"}},
    {"hostPath": {"path": "/data"}},
    {"gcePersistentDisk": {"pdName": "one"}},
    {"awsElasticBlockStore": {"volumeID": "vol-1", "readOnly": True}},
    {"iscsi": {"iqn": "iqn-1", "lun": 0}},
    {"rbd": {"monitors": ["m1"], "pool": "rbd", "image": "i"}},
    {"csi": {"driver": "secrets.example.com"}},
)
_EVICTABLE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_BLOCKERS: tuple[dict[str, str], ...] = (
    {_EVICTABLE: "false"},
    {_EVICTABLE: "true"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes": "disk-0"},
    {"karpenter.sh/do-not-disrupt": "true"},
    {"nodewright.dev/do-not-disrupt": "10m"},
    {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"},
    {"controller.kubernetes.io/pod-deletion-cost": "100"},
    {"controller.kubernetes.io/pod-deletion-cost": "dear"},
)
_POD_INDEX = "apps.kubernetes.io/pod-index"
#: What else a disruption budget may be about: all pods, none, or one of each StatefulSet.
_SELECTING: tuple[dict[str, Any], ...] = (
    {"selector": {}},
    {},
    {"selector": {"matchLabels": {_POD_INDEX: "0"}}},
)
_DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
_GANG = "nodewright.dev/all-or-nothing"
_UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
_GATED = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}


@dataclass(kw_only=True)
class Workloads:
    """Pods and what belongs to them, as lists of a scenario."""

    pods: list[dict[str, Any]] = field(default_factory=list)
    lists: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """What the pods of one controller share."""

    name: str
    pod: dict[str, Any]
    cpu: int
    #: What its controller is called.
    controller: str


def random_workloads(dice: Dice, theme: Theme, fleet: Fleet, storage: Storage, now: datetime) -> Workloads:
    """Return pods on the nodes of *fleet*, as far as they have room, and pods that wait for one."""
    workloads = Workloads()
    kinds = [_kind(dice, theme, number, storage) for number in range(dice.number(2, 6))]
    _add_daemon_sets(dice, theme, fleet, workloads, now)
    _add_running(dice, theme, fleet, kinds, workloads, now)
    waiting = dice.number(*theme.pending)
    while waiting > 0:
        count = min(waiting, dice.pick((1, 2, 5, 12, 30)))
        waiting -= count
        _add_pending(dice, theme, dice.pick(kinds), count, fleet, workloads, now)
    _add_controllers(dice, kinds, workloads)
    _add_budgets(dice, kinds, workloads)
    return workloads


def _kind(dice: Dice, theme: Theme, number: int, storage: Storage) -> _Kind:
    mix, app = theme.mix, dice.pick(_APPS)
    controller, namespace = dice.pick(_KINDS), dice.pick(NAMESPACES)
    cpu = dice.pick((0, 100, 250, 500, 900, 1500, 3500))
    requests: dict[str, str] = {"cpu": f"{cpu}m"} if cpu else {}
    if dice.chance(70):
        requests["memory"] = dice.pick(("128Mi", "1Gi", "3Gi", "12Gi"))
    if dice.chance(10):
        requests[dice.pick((GPU, GPU, FPGA, "cloud-tpus.google.com/v2", "ephemeral-storage"))] = "1"
    container: dict[str, Any] = {"name": "main", "resources": {"requests": requests}}
    if dice.chance(mix.ports):
        container["ports"] = dice.some(_PORTS, 2)
    labels = {"app": app}
    if dice.chance(40):
        labels["version"] = dice.pick(("0", "1"))
    metadata: dict[str, Any] = {"namespace": namespace, "labels": labels, "annotations": {}}
    spec: dict[str, Any] = {"containers": [container]}
    name = f"{app}-{number}"
    if controller:
        owner = {"kind": controller, "name": name, "uid": f"uid-{namespace}-{name}", "apiVersion": "apps/v1"}
        metadata["ownerReferences"] = [owner | {"controller": True}]
    _constrain(dice, theme, spec, app)
    _keep(dice, theme, metadata, spec, storage)
    if dice.chance(mix.gangs):
        metadata["annotations"][_GANG] = dice.pick(("true", "together", "together", "false"))
    return _Kind(name=name, pod={"metadata": metadata, "spec": spec}, cpu=cpu, controller=controller)


def _constrain(dice: Dice, theme: Theme, spec: dict[str, Any], app: str) -> None:
    """Say in *spec* where pods may run."""
    mix = theme.mix
    affinity: dict[str, Any] = {}
    if dice.chance(mix.node_affinity // 3):
        spec["nodeSelector"] = dict(dice.pick(_SELECTORS))
    if dice.chance(mix.node_affinity // 3):
        terms = [{"matchExpressions": dice.some(_LINES, 2)} for _ in range(dice.pick((1, 1, 2)))]
        affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    if dice.chance(mix.affinity // 3):
        affinity["podAffinity"] = _terms(dice, app)
    if dice.chance(mix.affinity // 2):
        affinity["podAntiAffinity"] = _terms(dice, app)
    if affinity:
        spec["affinity"] = affinity
    if dice.chance(mix.taints):
        spec["tolerations"] = dice.some(_TOLERATIONS, 2)
    if dice.chance(mix.spread):
        spec["topologySpreadConstraints"] = [_spread(dice, app, key) for key in dice.some((ZONE, HOSTNAME, "rack"), 2)]


def _terms(dice: Dice, app: str) -> dict[str, Any]:
    term: dict[str, Any] = {
        "topologyKey": dice.pick((ZONE, HOSTNAME, HOSTNAME, "rack")),
        "labelSelector": _selector(dice, app),
    }
    if dice.chance(15):
        term["namespaces"] = dice.some(("default", "team-a"), 2)
    if dice.chance(15):
        term["namespaceSelector"] = dice.pick(({}, {"matchLabels": {"tier": "apps"}}))
    if dice.chance(15):
        term["matchLabelKeys"] = ["version"]
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def _spread(dice: Dice, app: str, key: str) -> dict[str, Any]:
    spread: dict[str, Any] = {
        "maxSkew": dice.pick((1, 1, 2, 3)),
        "topologyKey": key,
        "whenUnsatisfiable": dice.pick(("DoNotSchedule", "DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
        "labelSelector": _selector(dice, app),
    }
    if spread["whenUnsatisfiable"] == "DoNotSchedule" and dice.chance(25):
        spread["minDomains"] = dice.number(1, 4)
    if dice.chance(20):
        spread["nodeTaintsPolicy"] = "Honor"
    if dice.chance(20):
        spread["nodeAffinityPolicy"] = "Ignore"
    return spread


def _selector(dice: Dice, app: str) -> dict[str, Any]:
    if dice.chance(10):
        return {"matchExpressions": [{"key": "app", "operator": dice.pick(("In", "NotIn")), "values": ["web"]}]}
    return {"matchLabels": {"app": dice.pick((app, app, *_APPS))}}


def _keep(dice: Dice, theme: Theme, metadata: dict[str, Any], spec: dict[str, Any], storage: Storage) -> None:
    """Say in *metadata* and *spec* what keeps pods where they are, how they end and what they are worth."""
    mix = theme.mix
    if dice.chance(mix.blockers // 2):
        metadata["annotations"] |= dice.pick(_BLOCKERS)
    volumes: list[dict[str, Any]] = []
    if dice.chance(mix.blockers // 3 + mix.volumes // 4):
        volumes += [{"name": f"disk-{index}", **disk} for index, disk in enumerate(dice.some(_DISKS, 2))]
    if dice.chance(mix.volumes):
        names = storage.claims_of(metadata["namespace"])
        volumes += [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names[: dice.number(1, 2)]]
    if dice.chance(mix.volumes // 8):
        volumes.append({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}})
    if volumes:
        spec["volumes"] = volumes
    if dice.chance(mix.priorities):
        spec["priority"] = dice.pick((-20, 0, 3, 100, 2000000000))
        if dice.chance(20):
            spec["preemptionPolicy"] = "Never"
    if dice.chance(25):
        spec["terminationGracePeriodSeconds"] = dice.pick((0, 5, 60, 3600))
    if dice.chance(6):
        spec["schedulerName"] = "own-scheduler"
    if dice.chance(10):
        spec["initContainers"] = [
            {
                "name": "init",
                "resources": {"requests": {"cpu": "700m"}},
                **({"restartPolicy": "Always"} if dice.chance(40) else {}),
            }
        ]
    if dice.chance(5):
        spec["restartPolicy"] = "OnFailure"


def _named(kind: _Kind, name: str, born: str) -> dict[str, Any]:
    pod = deepcopy(kind.pod)
    pod["metadata"] |= {
        "name": name,
        "uid": f"uid-{kind.pod['metadata']['namespace']}-{name}",
        "creationTimestamp": born,
    }
    return pod


def _add_running(
    dice: Dice, theme: Theme, fleet: Fleet, kinds: list[_Kind], workloads: Workloads, now: datetime
) -> None:
    number = 0
    for node in fleet.nodes:
        room = _milli(node["status"]["allocatable"]["cpu"]) * dice.number(*theme.load) // 100
        for _ in range(dice.number(0, 8)):
            kind = dice.pick(kinds)
            if max(kind.cpu, 50) > room:
                continue
            room -= max(kind.cpu, 50)
            number += 1
            pod = _named(kind, f"{kind.name}-r{number}", ago(now, minutes=dice.pick((0.1, 8, 90, 90, 90))))
            pod["spec"]["nodeName"] = node["metadata"]["name"]
            pod["status"] = {"phase": "Running"}
            if kind.controller == "StatefulSet":
                pod["metadata"]["labels"] |= {_POD_INDEX: str(number % 2)}
            if dice.chance(4):
                pod["metadata"]["deletionTimestamp"] = stamp(now + timedelta(minutes=dice.pick((-60, -1, 1, 60))))
            if dice.chance(theme.mix.oddities // 8):
                pod["status"]["phase"] = dice.pick(("Succeeded", "Failed"))
            workloads.pods.append(pod)
        if dice.chance(15):
            workloads.pods.append(_mirror(node, now))


def _add_pending(
    dice: Dice, theme: Theme, kind: _Kind, count: int, fleet: Fleet, workloads: Workloads, now: datetime
) -> None:
    mix = theme.mix
    born = ago(now, seconds=dice.pick((0, 1, 15, 40, 400, 400, 4000)) if dice.chance(40) else 300)
    condition = dict(_UNSCHEDULABLE)
    if dice.chance(8):
        condition = {} if dice.chance(60) else dict(_GATED)
    delay = dice.pick(("30s", "10m", "soon")) if dice.chance(mix.oddities // 4) else ""
    first = len(workloads.pods)
    for number in range(first, first + count):
        pod = _named(kind, f"{kind.name}-p{number}", born)
        pod["status"] = {"phase": "Pending", "conditions": [condition] if condition else []}
        if delay:
            pod["metadata"]["annotations"][_DELAY] = delay
        if fleet.nodes and dice.chance(mix.priorities // 20):
            pod["status"]["nominatedNodeName"] = dice.pick(fleet.nodes)["metadata"]["name"]
        workloads.pods.append(pod)


def _mirror(node: dict[str, Any], now: datetime) -> dict[str, Any]:
    name = node["metadata"]["name"]
    return {
        "metadata": {
            "name": f"proxy-{name}",
            "namespace": "kube-system",
            "uid": f"uid-proxy-{name}",
            "annotations": {"kubernetes.io/config.mirror": "mirrored"},
            "ownerReferences": [{"kind": "Node", "name": name, "uid": f"uid-{name}", "controller": True}],
            "creationTimestamp": ago(now, minutes=100),
        },
        "spec": {
            "nodeName": name,
            "containers": [{"name": "proxy", "resources": {"requests": {"cpu": "100m"}}}],
            "priority": 2000001000,
        },
        "status": {"phase": "Running"},
    }


def _add_daemon_sets(dice: Dice, theme: Theme, fleet: Fleet, workloads: Workloads, now: datetime) -> None:
    if not dice.chance(70):
        return
    sets: list[dict[str, Any]] = []
    workloads.lists["daemonSets"] = sets
    for number in range(dice.number(0, 3)):
        name = f"daemon-{number}"
        requests = {"cpu": dice.pick(("50m", "300m")), "memory": "64Mi"}
        spec: dict[str, Any] = {"containers": [{"name": "main", "resources": {"requests": requests}}]}
        spec["tolerations"] = [{"operator": "Exists"}] if dice.chance(60) else []
        if dice.chance(30):
            spec["nodeSelector"] = dict(dice.pick(_SELECTORS))
        if dice.chance(30):
            spec["priorityClassName"] = "system-node-critical"
        template = {"metadata": {"labels": {"app": name}}, "spec": spec}
        told = dice.pick(("", "", "true", "false"))
        if told:
            template["metadata"]["annotations"] = {"cluster-autoscaler.kubernetes.io/enable-ds-eviction": told}
        meta = {"name": name, "namespace": "kube-system", "uid": f"uid-{name}"}
        sets.append({"metadata": meta, "spec": {"template": template}})
        for node in fleet.nodes:
            if dice.chance(70):
                workloads.pods.append(_daemon_pod(meta, template, node["metadata"]["name"], now))
        if fleet.nodes and dice.chance(theme.mix.oddities // 2):
            pod = _daemon_pod(meta, template, "", now)
            pod["status"] = {"phase": "Pending", "conditions": [dict(_UNSCHEDULABLE)]}
            workloads.pods.append(pod)


def _daemon_pod(meta: dict[str, Any], template: dict[str, Any], node: str, now: datetime) -> dict[str, Any]:
    pod = deepcopy(template)
    name = f"{meta['name']}-{node or 'waiting'}"
    owner = {"kind": "DaemonSet", "name": meta["name"], "uid": meta["uid"], "controller": True}
    pod["metadata"] |= {
        "name": name,
        "namespace": meta["namespace"],
        "uid": f"uid-{name}",
        "creationTimestamp": ago(now, minutes=90),
        "ownerReferences": [owner],
    }
    pod["spec"]["nodeName"] = node
    pod["status"] = {"phase": "Running"}
    return pod


def _add_controllers(dice: Dice, kinds: list[_Kind], workloads: Workloads) -> None:
    """Let some kinds of controllers be seen, with most of those that pods have."""
    for kind, key in _CONTROLLERS.items():
        if not dice.chance(60):
            continue
        workloads.lists[key] = [
            {
                "metadata": {"name": each.name, "namespace": each.pod["metadata"]["namespace"]},
                "spec": {} if kind == "Job" else {"replicas": dice.number(1, 6)},
            }
            for each in kinds
            if each.controller == kind and dice.chance(93)
        ]


def _add_budgets(dice: Dice, kinds: list[_Kind], workloads: Workloads) -> None:
    workloads.lists["pdbs"] = [
        {
            "metadata": {"name": f"budget-{number}", "namespace": dice.pick(kinds).pod["metadata"]["namespace"]},
            "spec": dice.pick(({"selector": {"matchLabels": {"app": dice.pick(_APPS)}}}, *_SELECTING)),
            "status": {"disruptionsAllowed": dice.pick((0, 1, 1, 2, 10))},
        }
        for number in range(dice.pick((0, 0, 1, 2)))
    ]


def _milli(cpu: str) -> int:
    return int(cpu[:-1]) if cpu.endswith("m") else int(cpu) * 1000
