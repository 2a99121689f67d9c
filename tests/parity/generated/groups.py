"""Random node groups, their machines and nodes, in all states that there are."""

from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .dice import Dice, ago, stamp
from .theme import Theme

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
GPU = "nvidia.com/gpu"
FPGA = "example.com/fpga"
ZONES = ("zone-a", "zone-b", "zone-c")
TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"

#: Cores, GiB of memory, what else, and dollars for an hour.
_TYPES: dict[str, tuple[int, int, dict[str, str], float]] = {
    "small": (2, 4, {}, 0.1),
    "medium": (4, 16, {}, 0.2),
    "large": (8, 32, {}, 0.4),
    "huge": (16, 64, {}, 0.9),
    "gpu": (8, 61, {GPU: "2"}, 3.0),
    "fpga": (4, 8, {FPGA: "2", "ephemeral-storage": "20Gi"}, 0.8),
}
_TAINTS: tuple[dict[str, str], ...] = (
    {"key": "dedicated", "value": "web", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "db", "effect": "NoExecute"},
    {"key": "spot", "effect": "PreferNoSchedule"},
)
_PASSING_TAINTS: tuple[dict[str, str], ...] = (
    {"key": "agent-not-ready", "effect": "NoSchedule"},
    {"key": "starting.example.com/cni", "effect": "NoSchedule"},
    {"key": "startup-taint.cluster-autoscaler.kubernetes.io/disk", "effect": "NoSchedule"},
    {"key": "maintenance", "effect": "NoSchedule"},
    {"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"},
)
_PROTECTIONS: tuple[dict[str, str], ...] = (
    {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"},
    {"karpenter.sh/do-not-disrupt": "true"},
    {"nodewright.dev/do-not-disrupt": "true"},
    {"nodewright.dev/do-not-disrupt": "2h"},
    {"nodewright.dev/do-not-disrupt": "1s"},
    {"nodewright.dev/do-not-disrupt": "2030-01-01T08:20:00Z"},
    {"nodewright.dev/do-not-disrupt": "whenever"},
    {"delay-deletion.cluster-autoscaler.kubernetes.io/backup": "yes"},
)
#: Where no error is, a machine that stays away just does not come.
_ERRORS: tuple[dict[str, str], ...] = (
    {"errorClass": "StockOut", "code": "NO_ROOM", "message": "none left", "pool": "zone-a/medium"},
    {"errorClass": "Quota", "code": "QUOTA", "message": "the account has enough"},
    {"errorClass": "Permission", "code": "DENIED"},
    {"errorClass": "Configuration", "code": "NO_IMAGE", "message": "no such image"},
    {"errorClass": "Other", "code": "BROKEN", "pool": "shared"},
)


@dataclass(kw_only=True)
class Fleet:
    """Node groups and nodes."""

    groups: list[dict[str, Any]] = field(default_factory=list)
    nodes: list[dict[str, Any]] = field(default_factory=list)
    group_of: dict[str, str] = field(default_factory=dict)
    #: Orders that were given before the first loop.
    requests: list[dict[str, Any]] = field(default_factory=list)
    #: What GPUs nodes have.
    gpus: dict[str, dict[str, str]] = field(default_factory=dict)


def random_fleet(dice: Dice, theme: Theme, now: datetime) -> Fleet:
    """Return two to six groups, of which some are alike, with none to five nodes each, and nodes of no group."""
    fleet = Fleet()
    priced = dice.chance(theme.prices)
    zones = ZONES[: dice.number(1, len(ZONES))]
    kinds = [_kind(dice, theme) for _ in range(dice.number(2, 4))]
    for number in range(dice.number(len(kinds), len(kinds) + 2)):
        kind = kinds[number] if number < len(kinds) else dice.pick(kinds)
        group = _group(dice, theme, f"{kind.prefix}-{number}", kind, dice.pick(zones), priced=priced)
        _add_machines(dice, theme, fleet, group, kind, now)
        fleet.groups.append(group)
        if dice.chance(8 + theme.mix.trouble // 4):
            fleet.requests.append(
                {
                    "group": group["id"],
                    "increase": dice.number(1, 3),
                    "time": ago(now, minutes=dice.pick((0.2, 3, 14, 40))),
                }
            )
    for number in range(dice.pick((0, 0, 1, 2))):
        template = _template(dice, theme, dice.pick(kinds), dice.pick(zones))
        if dice.chance(20):
            template["metadata"]["labels"]["type"] = "virtual-kubelet"
        fleet.nodes.append(node_like(template, f"stranger-{number}", now - timedelta(hours=2), now))
    if dice.chance(30):
        # Nodes of one group need not stand side by side.
        fleet.nodes = dice.shuffled(fleet.nodes)
    return fleet


def node_like(template: dict[str, Any], name: str, born: datetime, ready: datetime | None) -> dict[str, Any]:
    """Return a node as *template* promises, *born* then, and ready since *ready* if that is a time."""
    node = deepcopy(template)
    metadata = node.setdefault("metadata", {})
    metadata |= {"name": name, "uid": f"uid-{name}", "creationTimestamp": stamp(born)}
    metadata["labels"] = {**metadata.get("labels", {}), HOSTNAME: name}
    node.setdefault("spec", {})["providerID"] = f"cloud://{name}"
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": stamp(ready or born)}
    node.setdefault("status", {})["conditions"] = [condition]
    return node


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """What groups have in common that are alike."""

    prefix: str
    machine: str
    labels: dict[str, str]
    taints: list[dict[str, str]]
    provider: str


def _kind(dice: Dice, theme: Theme) -> _Kind:
    prefix = dice.pick(("spot", "base", "base", "gpu", "batch"))
    machine = "gpu" if prefix == "gpu" else dice.pick(("small", "medium", "medium", "large", "large", "huge", "fpga"))
    labels = {"pool": prefix, "disk": dice.pick(("ssd", "hdd"))}
    if dice.chance(30):
        labels |= {"rack": dice.pick(("1", "2")), "gen": dice.pick(("1", "2", "3", "x"))}
    taints = dice.some(_TAINTS, 2) if dice.chance(theme.mix.taints // 2) else []
    return _Kind(
        prefix=prefix, machine=machine, labels=labels, taints=taints, provider=dice.pick(("one", "one", "other"))
    )


def _template(dice: Dice, theme: Theme, kind: _Kind, zone: str) -> dict[str, Any]:
    cores, memory, more, _ = _TYPES[kind.machine]
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": kind.machine,
        ZONE: zone,
        "topology.kubernetes.io/region": "here",
        **kind.labels,
    }
    if kind.machine == "gpu":
        labels["accelerator"] = "tesla"
    pods = "110" if dice.chance(90) else dice.pick(("3", "8"))
    capacity = {"cpu": str(cores), "memory": f"{memory}Gi", "pods": pods, **more}
    allocatable = {**capacity, "cpu": f"{cores * 1000 - 100}m", "memory": f"{memory * 1024 - 300}Mi"}
    template: dict[str, Any] = {
        "metadata": {"labels": labels},
        "spec": {"taints": deepcopy(kind.taints)} if kind.taints else {},
        "status": {"capacity": capacity, "allocatable": allocatable},
    }
    if dice.chance(theme.mix.oddities // 3):
        del labels[dice.pick((ZONE, "topology.kubernetes.io/region", "node.kubernetes.io/instance-type"))]
    if dice.chance(theme.mix.oddities // 8):
        template["spec"]["unschedulable"] = True
    return template


def _group(dice: Dice, theme: Theme, name: str, kind: _Kind, zone: str, *, priced: bool) -> dict[str, Any]:
    mix = theme.mix
    group: dict[str, Any] = {
        "id": name,
        "provider": kind.provider,
        "minSize": dice.pick((0, 0, 0, 1, 2)),
        "maxSize": dice.pick((4, 8, 10, 20, 100)),
        "template": _template(dice, theme, kind, zone),
    }
    if dice.chance(25):
        group["templatePods"] = [_static_pod(dice)]
    if dice.chance(15):
        group["csiDrivers"] = {"disk.example.com": dice.number(1, 4)}
    if dice.chance(15):
        group["zones"] = [zone, *dice.some([each for each in ZONES if each != zone], 2)]
    if priced and dice.chance(95):
        price = _TYPES[kind.machine][3] * (0.3 if kind.prefix == "spot" else dice.pick((1.0, 1.0, 1.3)))
        group["hourlyPrice"] = round(price, 4)
    if dice.chance(25):
        group["pools"] = dice.some(("shared", "zone-a/medium", f"{zone}/{kind.machine}"), 2)
    if kind.machine == "gpu" and dice.chance(80):
        group["gpu"] = {"label": "accelerator", "type": "tesla", "resource": GPU}
    group |= {
        key: True
        for key, percent in (("atomic", 30), ("forceDelete", 30), ("autoprovisioned", 5))
        if dice.chance(percent)
    }
    if dice.chance(mix.oddities // 6):
        group["exists"] = False
    if dice.chance(mix.trouble // 6):
        group["error"] = "the cloud is on fire"
    options = _options(dice, theme)
    if options:
        group["options"] = options
    return group


def _options(dice: Dice, theme: Theme) -> dict[str, Any]:
    options: dict[str, Any] = {}
    if dice.chance(theme.whole):
        options["zeroOrMaxNodeScaling"] = True
        if dice.chance(30):
            options["allowNonAtomicScaleUpToMax"] = True
    choices: tuple[tuple[str, Any], ...] = (
        ("scaleDownUtilizationThreshold", dice.pick((0.3, 0.9))),
        ("scaleDownGpuUtilizationThreshold", dice.pick((0.3, 0.9))),
        ("scaleDownUnneededTime", dice.pick(("0s", "2m", "20m"))),
        ("scaleDownUnreadyTime", dice.pick(("1m", "30m"))),
        ("maxNodeProvisionTime", dice.pick(("1m", "5m"))),
        ("maxNodeStartupTime", dice.pick(("1m", "5m"))),
        ("ignoreDaemonSetsUtilization", True),
    )
    return options | {name: value for name, value in choices if dice.chance(8)}


def _static_pod(dice: Dice) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "proxy",
            "namespace": "kube-system",
            "annotations": {"kubernetes.io/config.mirror": "mirrored"},
            "ownerReferences": [{"kind": "Node", "name": "any", "uid": "uid-any", "controller": True}],
        },
        "spec": {
            "containers": [{"name": "proxy", "resources": {"requests": {"cpu": dice.pick(("50m", "200m"))}}}],
            "priority": 2000001000,
        },
    }


def _add_machines(dice: Dice, theme: Theme, fleet: Fleet, group: dict[str, Any], kind: _Kind, now: datetime) -> None:
    """Give *group* its machines and nodes, its target size, and maybe take its template away."""
    mix, name, template = theme.mix, group["id"], group["template"]
    instances: list[dict[str, Any]] = []
    for number in range(dice.pick((0, 1, 2, 3, 5) if theme.name != "calm" else (0, 2, 3, 4))):
        node = _node(dice, theme, template, f"{name}-n{number}", now)
        fleet.nodes.append(node)
        fleet.group_of[node["metadata"]["name"]] = name
        if kind.machine == "gpu" and dice.chance(80):
            fleet.gpus[node["metadata"]["name"]] = {"label": "accelerator", "type": "tesla", "resource": GPU}
        if not dice.chance(mix.trouble // 8):
            state = "Deleting" if dice.chance(mix.trouble // 8) else "Running"
            instances.append({"id": node["spec"]["providerID"], "state": state})
    if dice.chance(mix.trouble):
        instances += [_odd_machine(dice, f"cloud://{name}-m{number}", now) for number in range(dice.number(1, 3))]
    staying = sum(instance["state"] != "Deleting" for instance in instances)
    short = dice.number(1, 3) if dice.chance(mix.trouble // 2) else 0
    group["instances"] = instances
    if theme.whole and group.get("options", {}).get("zeroOrMaxNodeScaling") and staying and dice.chance(70):
        group["maxSize"] = staying + short
    group["targetSize"] = max(staying + short, 0)
    group["maxSize"] = max(group["maxSize"], group["minSize"], group["targetSize"] - (2 if dice.chance(3) else 0), 1)
    if group["targetSize"] < group["minSize"] and not dice.chance(40):
        group["minSize"] = group["targetSize"]
    if dice.chance(10 if instances else 5):
        del group["template"]
        group.pop("templatePods", None)


def _odd_machine(dice: Dice, machine: str, now: datetime) -> dict[str, Any]:
    """Return a machine that is no node: on its way, late, failed or going."""
    entry: dict[str, Any] = {"id": machine, "state": dice.pick(("Creating", "Creating", "Running", "Deleting"))}
    entry["createdAt"] = ago(now, minutes=dice.pick((0.5, 5, 30)))
    if dice.chance(50):
        entry |= {"zone": "zone-a", "instanceType": "medium"}
    if dice.chance(35):
        entry |= {"state": "Creating", "error": dict(dice.pick(_ERRORS))}
    return entry


def random_error(dice: Dice) -> dict[str, str]:
    """Return why a machine could not be made."""
    return dict(dice.pick(_ERRORS))


def _node(dice: Dice, theme: Theme, template: dict[str, Any], name: str, now: datetime) -> dict[str, Any]:
    mix = theme.mix
    born = now - timedelta(minutes=dice.pick((3, 30, 180, 180, 600)))
    node = node_like(template, name, born, born + timedelta(minutes=dice.pick((1, 2))))
    spec, status, annotations = node["spec"], node["status"], node["metadata"].setdefault("annotations", {})
    taints: list[dict[str, Any]] = spec.setdefault("taints", [])
    if dice.chance(mix.oddities // 2):
        # Not as promised: that is learnt.
        status["allocatable"]["memory"] = dice.pick(("3Gi", "3900Mi"))
        node["metadata"]["labels"] |= {"agent": "installed"}
        node["metadata"]["labels"].pop("gen", None)
        taints.append({"key": "agent", "value": "installed", "effect": "PreferNoSchedule"})
        status["capacity"].pop(FPGA, None)
        status["allocatable"].pop(FPGA, None)
    if dice.chance(mix.ailments // 2):
        _make_ill(dice, node, now)
    if dice.chance(mix.taints // 5):
        spec["unschedulable"] = True
    if dice.chance(mix.taints // 5):
        taints.append(dict(dice.pick(_PASSING_TAINTS)))
    if dice.chance(mix.blockers // 3):
        annotations |= dice.pick(_PROTECTIONS)
    if dice.chance(15):
        since = int((now - timedelta(minutes=dice.pick((1, 12, 50)))).timestamp())
        value = str(since) if dice.chance(90) else "long ago"
        taints.append({"key": DELETION_CANDIDATE, "value": value, "effect": "PreferNoSchedule"})
    if dice.chance(4 + mix.trouble // 10):
        taints.append({"key": TO_BE_DELETED, "value": str(int(now.timestamp()) - 300), "effect": "NoSchedule"})
    return node


def _make_ill(dice: Dice, node: dict[str, Any], now: datetime) -> None:
    conditions = node["status"]["conditions"]
    since = ago(now, minutes=dice.pick((0.2, 5, 40)))
    ailment = dice.number(0, 4)
    if ailment <= 2:
        conditions[0] |= {"status": dice.pick(("False", "Unknown")), "lastTransitionTime": since}
    elif ailment == 3:
        conditions.append({"type": "Suspended", "status": "True", "lastTransitionTime": since})
    else:
        conditions.append({"type": "DiskPressure", "status": "True", "lastTransitionTime": since})
    if ailment == 0 and GPU in node["status"]["allocatable"]:
        # The device plugin is not there yet.
        conditions[0]["status"] = "True"
        del node["status"]["allocatable"][GPU]
