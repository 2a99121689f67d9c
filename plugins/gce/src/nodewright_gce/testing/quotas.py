"""What machines take from the quotas of a region."""

from collections.abc import Mapping
from typing import Any

#: Families whose cores count by themselves; all others count as CPUS.
_OWN_CORES = {"n2", "n2d", "c2", "c2d", "c3", "t2d", "t2a", "a2", "m1", "m2", "m3"}
_GPUS = {
    "nvidia-tesla-a100": "NVIDIA_A100_GPUS",
    "nvidia-a100-80gb": "NVIDIA_A100_80GB_GPUS",
    "nvidia-l4": "NVIDIA_L4_GPUS",
    "nvidia-tesla-t4": "NVIDIA_T4_GPUS",
    "nvidia-tesla-v100": "NVIDIA_V100_GPUS",
    "nvidia-tesla-p100": "NVIDIA_P100_GPUS",
    "nvidia-tesla-p4": "NVIDIA_P4_GPUS",
    "nvidia-h100-80gb": "NVIDIA_H100_GPUS",
}
_SSD_GB = 375
#: Of a generous project, by metric. Nothing is held to them before `GceDouble.set_quota`.
LIMITS: Mapping[str, float] = {
    **dict.fromkeys(["CPUS", "INSTANCES", *(f"{family.upper()}_CPUS" for family in _OWN_CORES)], 100_000.0),
    **{name: 1_000.0 for metric in _GPUS.values() for name in (metric, f"PREEMPTIBLE_{metric}")},
    "PREEMPTIBLE_CPUS": 0.0,
    "LOCAL_SSD_TOTAL_GB": 1_000_000.0,
    "PREEMPTIBLE_LOCAL_SSD_GB": 1_000_000.0,
    "IN_USE_ADDRESSES": 10_000.0,
}


def takes_of(machine_type: Mapping[str, Any], properties: Mapping[str, Any], *, spot: bool) -> Mapping[str, float]:
    """Return what a machine takes, by metric; spot takes cores like any other unless it has a quota of its own."""
    takes: dict[str, float] = {
        cores_quota(str(machine_type["name"])): float(machine_type["guestCpus"]),
        "INSTANCES": 1.0,
    }
    prefix = "PREEMPTIBLE_" if spot else ""
    for accelerator in properties.get("guestAccelerators", ()):
        metric = _GPUS[accelerator["acceleratorType"]]
        takes[prefix + metric] = float(accelerator["acceleratorCount"])
    for accelerator in machine_type.get("accelerators", ()):
        metric = _GPUS[accelerator["guestAcceleratorType"]]
        takes[prefix + metric] = float(accelerator["guestAcceleratorCount"])
    ssds = sum(disk.get("type") == "SCRATCH" for disk in properties.get("disks", ()))
    ssds += int(machine_type.get("bundledLocalSsds", {}).get("partitionCount", 0))
    if ssds:
        takes["PREEMPTIBLE_LOCAL_SSD_GB" if spot else "LOCAL_SSD_TOTAL_GB"] = float(ssds * _SSD_GB)
    return takes


def cores_quota(machine_type: str) -> str:
    """Return the quota that the cores of a type count for."""
    family = machine_type.partition("-")[0]
    return f"{family.upper()}_CPUS" if family in _OWN_CORES else "CPUS"
