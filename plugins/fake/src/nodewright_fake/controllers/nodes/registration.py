"""The Node object that a machine registers."""

from collections.abc import Mapping
from datetime import datetime

from nodewright.api import format_resource

from nodewright_fake.apiserver.store import Object, timestamp
from nodewright_fake.controllers.conditions import with_condition
from nodewright_fake.controllers.taints import NOT_READY
from nodewright_fake.host import Host, region_of

KUBELET_VERSION = "v1.34.0"
_HEALTHY = {
    "MemoryPressure": ("KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    "DiskPressure": ("KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("KubeletHasSufficientPID", "kubelet has sufficient PID available"),
}


def register(machine: Host, address: str, now: datetime) -> Object:
    """Return the node of *machine* as its kubelet first writes it, not ready yet."""
    labels = well_known_labels(machine)
    taints = [{"key": taint.key, "value": taint.value, "effect": taint.effect} for taint in machine.taints]
    capacity = {name: format_resource(name, amount) for name, amount in machine.capacity.items()}
    allocatable = {name: format_resource(name, amount) for name, amount in machine.allocatable.items()}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.name, "labels": labels, "annotations": {}},
        "spec": {"providerID": machine.id, "taints": [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]},
        "status": {
            "capacity": capacity,
            "allocatable": allocatable or capacity,
            "conditions": not_ready([], now),
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": machine.name}],
            "nodeInfo": {
                "architecture": labels["kubernetes.io/arch"],
                "operatingSystem": labels["kubernetes.io/os"],
                "kubeletVersion": KUBELET_VERSION,
                "containerRuntimeVersion": "fake://1",
                "kernelVersion": "fake",
                "osImage": "fake",
                "machineID": machine.id,
                "systemUUID": machine.id,
                "bootID": machine.id,
                "kubeProxyVersion": "",
            },
        },
    }


def well_known_labels(machine: Host) -> dict[str, str]:
    """Return the labels of the machine's node; what the machine states itself goes first."""
    found = {
        "kubernetes.io/hostname": machine.name,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": machine.instance_type,
        "topology.kubernetes.io/zone": machine.zone,
        "topology.kubernetes.io/region": region_of(machine.zone),
    }
    return {**{key: value for key, value in found.items() if value}, **machine.labels}


def ready(conditions: list[Object], now: datetime) -> list[Object]:
    """Return the conditions of a node whose kubelet says that all is well."""
    return _reported(conditions, now, ready=True, reason="KubeletReady", message="kubelet is posting ready status")


def not_ready(conditions: list[Object], now: datetime) -> list[Object]:
    """Return the conditions of a node whose kubelet runs, but whose network does not."""
    message = "container runtime network not ready: cni plugin not initialized"
    return _reported(conditions, now, ready=False, reason="KubeletNotReady", message=message)


def unknown(conditions: list[Object], now: datetime) -> list[Object]:
    """Return the conditions of a node whose kubelet has not reported for a while."""
    for kind in (*_HEALTHY, "Ready"):
        conditions = with_condition(
            conditions, now, kind, "Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status."
        )
    return conditions


def _reported(conditions: list[Object], now: datetime, *, ready: bool, reason: str, message: str) -> list[Object]:
    for kind, (why, words) in _HEALTHY.items():
        conditions = with_condition(conditions, now, kind, False, why, words)
    conditions = with_condition(conditions, now, "Ready", ready, reason, message)
    return [{**condition, "lastHeartbeatTime": timestamp(now)} for condition in conditions]


def with_conditions(node: Object, conditions: list[Object]) -> Object:
    """Return *node* with other conditions."""
    status: Mapping[str, object] = node.get("status") or {}
    return {**node, "status": {**status, "conditions": conditions}}
