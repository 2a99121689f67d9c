"""The trace as a world: its machine types as node groups with prices, its tasks as ReplicaSets of one pod."""

import json
from typing import Any

from bench.openb import MachineType, Task, Trace

TASK_LABEL = "task"
_GPU = "nvidia.com/gpu"
_MODEL = "fake.nodewright.dev/accelerator"
#: Made up, of the size that clouds take for an hour: a core, a GiB, and a GPU of each model. G2 and G3 are names
#: that the trace gives to models it does not tell; their machines look like those of A10 and A100.
_CORE, _GIB = 0.03, 0.004
_GPU_PRICES = {"T4": 0.35, "P100": 0.7, "A10": 0.75, "G2": 0.75, "V100M16": 1.4, "V100M32": 1.8, "G3": 2.5}


def hourly_price(machine: MachineType) -> float:
    """Return the hourly price, by cores, memory and GPUs."""
    gpus = machine.gpus * _GPU_PRICES[machine.model] if machine.gpus else 0.0
    return round(machine.cpu_milli / 1000 * _CORE + machine.memory_mib / 1024 * _GIB + gpus, 3)


def scenario(trace: Trace) -> str:
    """Return a world without machines and pods, in YAML; no group may have more machines than the trace.

    Machines with GPUs take only pods that ask for some, as is usual.
    """
    machines = sorted(trace.machines)
    world = {
        "zones": ["eu-a"],
        "instanceTypes": {machine.name: _instance_type(machine) for machine in machines},
        "groups": [
            {
                "name": machine.name,
                "zone": "eu-a",
                "instanceType": machine.name,
                "max": trace.machines[machine],
                "taints": [f"{_GPU}=present:NoSchedule"] if machine.gpus else [],
            }
            for machine in machines
        ],
    }
    # JSON is YAML.
    return json.dumps(world)


def manifest(task: Task) -> dict[str, Any]:
    """Return the ReplicaSet of *task*, which creates its pod again after an eviction."""
    labels = {TASK_LABEL: task.name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": task.name, "namespace": "default", "labels": labels},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod_spec(task)},
        },
    }


def _instance_type(machine: MachineType) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "cpu": machine.cpu_milli // 1000,
        "memory": f"{machine.memory_mib}Mi",
        "price": hourly_price(machine),
    }
    if machine.gpus:
        settings["gpu"] = {"type": machine.model, "count": machine.gpus}
    return settings


def _pod_spec(task: Task) -> dict[str, Any]:
    requests: dict[str, Any] = {"cpu": f"{task.cpu_milli}m", "memory": f"{task.memory_mib}Mi"}
    if task.gpus:
        requests[_GPU] = str(task.gpus)
    resources = {"requests": requests, "limits": {_GPU: str(task.gpus)} if task.gpus else {}}
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "example/task", "resources": resources}]}
    if task.gpus:
        spec["tolerations"] = [{"key": _GPU, "operator": "Exists", "effect": "NoSchedule"}]
    if task.models:
        wanted = {"key": _MODEL, "operator": "In", "values": list(task.models)}
        terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
        spec["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return spec
