"""The Node object that a machine registers."""

from collections.abc import Mapping
from datetime import datetime

from nodewright.api import format_resource

from nodewright_fake.apiserver.store import Object, timestamp
from nodewright_fake.controllers.conditions import with_condition
from nodewright_fake.controllers.taints import NOT_READY
from nodewright_fake.host import Host, region_of

KUBELET_VERSION = "v1.34.0"
_SMALL = {"cpu": "4", "memory": "16Gi", "pods": "110"}
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
            "nodeInfo": _system(machine.id, labels),
        },
    }


def complete(node: Object, address: str, now: datetime) -> Object:
    """Return *node*, which someone else made, with what its kubelet adds: all that it does not say itself.

    It is not ready yet, unless it says so. One that does not say how large it is has the size of a small machine.
    """
    metadata, spec, status = node["metadata"], node.get("spec") or {}, node.get("status") or {}
    name = metadata["name"]
    defaults = {"kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
    labels = {**defaults, **(metadata.get("labels") or {})}
    capacity = {**_SMALL, **(status.get("allocatable") or {}), **(status.get("capacity") or {})}
    conditions = status.get("conditions") or []
    ready = any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)
    addresses = [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}]
    return {
        **node,
        "metadata": {**metadata, "labels": labels},
        "status": {
            **status,
            "capacity": capacity,
            "allocatable": {**capacity, **(status.get("allocatable") or {})},
            "conditions": conditions if ready else not_ready(conditions, now),
            "addresses": status.get("addresses") or addresses,
            "nodeInfo": {**_system(spec.get("providerID") or name, labels), **(status.get("nodeInfo") or {})},
        },
    }


def address_of(node: Object) -> str:
    """Return the address of a node within the cluster; empty if it has none."""
    addresses = {entry["type"]: entry["address"] for entry in node["status"].get("addresses") or ()}
    return str(addresses.get("InternalIP", ""))


def _system(machine: str, labels: Mapping[str, str]) -> Object:
    return {
        "architecture": labels["kubernetes.io/arch"],
        "operatingSystem": labels["kubernetes.io/os"],
        "kubeletVersion": KUBELET_VERSION,
        "containerRuntimeVersion": "fake://1",
        "kernelVersion": "fake",
        "osImage": "fake",
        "machineID": machine,
        "systemUUID": machine,
        "bootID": machine,
        "kubeProxyVersion": "",
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
