"""Machine types of the double: the API's figures of real ones."""

import re
from collections.abc import Mapping
from typing import Any

from nodewright_gce.testing.messages import not_found

#: MiB for each core.
_CLASSES = {"standard": 4096, "highmem": 8192, "highcpu": 1024}
_SIZES = {
    "e2": (2, 4, 8, 16, 32),
    "n1": (1, 2, 4, 8, 16, 32, 64, 96),
    "n2": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128),
    "n2d": (2, 4, 8, 16, 32, 48, 64, 80, 96, 128, 224),
    "c2": (4, 8, 16, 30, 60),
    "c3": (4, 8, 22, 44, 88, 176),
    "c4": (2, 4, 8, 16, 32, 48, 96, 192),
    "n4": (2, 4, 8, 16, 32, 48, 64, 80),
    "t2a": (1, 2, 4, 8, 16, 32, 48),
    "t2d": (1, 2, 4, 8, 16, 32, 48, 60),
    "c4a": (1, 2, 4, 8, 16, 32, 48, 64, 72),
}
#: Cores, MiB, accelerators, their type.
_WITH_GPUS = {
    **{f"a2-highgpu-{n}g": (12 * n, 87040 * n, n, "nvidia-tesla-a100") for n in (1, 2, 4, 8)},
    "a2-megagpu-16g": (96, 1392640, 16, "nvidia-tesla-a100"),
    **{f"a2-ultragpu-{n}g": (12 * n, 174080 * n, n, "nvidia-a100-80gb") for n in (1, 2, 4, 8)},
    **{
        f"g2-standard-{n}": (n, 4096 * n, gpus, "nvidia-l4")
        for n, gpus in ((4, 1), (8, 1), (12, 1), (16, 1), (24, 2), (32, 1), (48, 4), (96, 8))
    },
    "a3-highgpu-8g": (208, 1916928, 8, "nvidia-h100-80gb"),
}
_ARM = {"t2a", "c4a", "n4a"}
_SHARED = {
    "e2-micro": (2, 1024),
    "e2-small": (2, 2048),
    "e2-medium": (2, 4096),
    "f1-micro": (1, 614),
    "g1-small": (1, 1740),
}
_N1 = {"standard": 3840, "highmem": 6656, "highcpu": 922}
_CUSTOM = re.compile(
    r"(?:(?P<family>[a-z]\w*)-)?custom-(?:(?P<shared>micro|small|medium)|(?P<cores>\d+))-(?P<mib>\d+)(?:-ext)?"
)


def machine_types(zone_url: str) -> dict[str, dict[str, Any]]:
    """Return all machine types of a zone by name, in the form of the API."""
    return {name: {**facts, "zone": zone_url} for name, facts in _TYPES.items()}


def machine_type(name: str) -> Mapping[str, Any]:
    """Return a machine type, a custom one as well; raises `RefusalError`."""
    if name in _TYPES:
        return _TYPES[name]
    if match := _CUSTOM.fullmatch(name):
        return _facts(name, int(match["cores"] or 2), int(match["mib"]))
    raise not_found(f"machineTypes/{name}")


def _facts(name: str, cores: int, mib: int, gpus: int = 0, gpu_type: str = "") -> dict[str, Any]:
    family = name.partition("-")[0]
    facts: dict[str, Any] = {
        "kind": "compute#machineType",
        "id": str(100_000 + cores),
        "name": name,
        "description": f"{cores} vCPUs, {mib} MiB RAM",
        "guestCpus": cores,
        "memoryMb": mib,
        "isSharedCpu": name in _SHARED or "-custom-m" in name or "-custom-s" in name,
        "maximumPersistentDisks": 16 if name in _SHARED else 128,
        "architecture": "ARM64" if family in _ARM else "X86_64",
    }
    if gpus:
        facts["accelerators"] = [{"guestAcceleratorType": gpu_type, "guestAcceleratorCount": gpus}]
    if name.endswith("-lssd"):
        facts["bundledLocalSsds"] = {"defaultInterface": "NVME", "partitionCount": max(1, cores // 4)}
    return facts


def _catalogue() -> dict[str, dict[str, Any]]:
    types = {name: _facts(name, cores, mib) for name, (cores, mib) in _SHARED.items()}
    for family, sizes in _SIZES.items():
        for kind, mib in (_N1 if family == "n1" else _CLASSES).items():
            for cores in sizes:
                if (kind == "standard" or family not in _ARM) and (family, kind, cores) not in _ABSENT:
                    name = f"{family}-{kind}-{cores}"
                    types[name] = _facts(name, cores, cores * mib)
    for cores in (4, 8, 22, 44, 88, 176):
        name = f"c3-standard-{cores}-lssd"
        types[name] = _facts(name, cores, cores * 4096)
    for name, (cores, mib, gpus, gpu_type) in _WITH_GPUS.items():
        types[name] = _facts(name, cores, mib, gpus, gpu_type)
    return types


_ABSENT = {("n1", "highmem", 1), ("n1", "highcpu", 1), ("e2", "highmem", 32)}
_TYPES = _catalogue()
