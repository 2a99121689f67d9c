"""Quotas that a machine takes from, by the metrics of ``regions`` and of errors."""

import re

from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.templates.launch import Launch

#: Families that share the oldest metric.
_WITHOUT_OWN_METRIC = frozenset({"e2", "n1"})
#: Families with a metric of their own. All newer ones share a metric that has the family as a dimension.
_WITH_OWN_METRIC = frozenset({"a2", "c2", "c2d", "c3", "m1", "m2", "m3", "n2", "n2d", "t2a", "t2d"})
#: Families whose local SSDs share a metric, like those of the oldest families.
_WITH_OLD_LOCAL_SSDS = frozenset({"a2", "c2", "c2d", "g2", "m1", "m3", "n2", "n2d"})
#: Metrics of GPUs; the others are like their names.
_GPUS = {
    "nvidia-tesla-a100": "NVIDIA_A100",
    "nvidia-tesla-k80": "NVIDIA_K80",
    "nvidia-tesla-p100": "NVIDIA_P100",
    "nvidia-tesla-p4": "NVIDIA_P4",
    "nvidia-tesla-t4": "NVIDIA_T4",
    "nvidia-tesla-v100": "NVIDIA_V100",
    "nvidia-h100-80gb": "NVIDIA_H100",
}
_STANDARD_DISK = "pd-standard"
_EVERYWHERE = "global"


def quotas_of(launch: Launch, region: str) -> dict[str, int]:
    """Return what a machine takes of each quota, named ``REGION/METRIC``, or ``global/METRIC``.

    Spot machines are counted by the quotas for these, though Google takes the others where there are none.
    """
    vcpus, spot = launch.info.vcpus // 1000, launch.spot
    gpus = sum(launch.gpus.values())
    regional = {
        "INSTANCES": 1,
        "PREEMPTIBLE_CPUS" if spot else _cpus(launch.info): vcpus,
        _local_ssds(launch): launch.local_ssds * launch.local_ssd_gib,
        "IN_USE_ADDRESSES": launch.external_addresses,
        "SSD_TOTAL_GB": _gb(launch, "pd-ssd", "pd-balanced"),
        "DISKS_TOTAL_GB": _gb(launch, _STANDARD_DISK),
        **{("PREEMPTIBLE_" if spot else "") + _gpu(name): count for name, count in launch.gpus.items()},
    }
    everywhere = {"CPUS_ALL_REGIONS": vcpus, "GPUS_ALL_REGIONS": gpus}
    return {f"{region}/{metric}": amount for metric, amount in regional.items() if amount} | {
        f"{_EVERYWHERE}/{metric}": amount for metric, amount in everywhere.items() if amount
    }


def _cpus(info: MachineTypeInfo) -> str:
    if info.family in _WITHOUT_OWN_METRIC:
        return "CPUS"
    name = info.family.upper()
    return f"{name}_CPUS" if info.family in _WITH_OWN_METRIC else f"CPUS_PER_VM_FAMILY/{name}"


def _local_ssds(launch: Launch) -> str:
    family = launch.info.family
    if family not in _WITHOUT_OWN_METRIC | _WITH_OLD_LOCAL_SSDS:
        return f"LOCAL_SSD_TOTAL_GB_PER_VM_FAMILY/{family.upper()}"
    return "PREEMPTIBLE_LOCAL_SSD_GB" if launch.spot else "LOCAL_SSD_TOTAL_GB"


def _gpu(name: str) -> str:
    return _GPUS.get(name, re.sub(r"[^A-Z0-9]", "_", name.upper())) + "_GPUS"


def _gb(launch: Launch, *types: str) -> int:
    return sum(launch.disks.get(each, 0) for each in types)
