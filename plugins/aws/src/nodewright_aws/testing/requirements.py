"""Which instance types meet the requirements of a group; moto can't match them."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from nodewright_aws.testing.backend import Moto


def matching(requirements: Mapping[str, Any], moto: Moto, architectures: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the names of the types that meet *requirements*, in order; of all architectures if none is given."""
    allowed = tuple(requirements.get("AllowedInstanceTypes", ()))
    # With plain names, moto need not list all types.
    plain = allowed and not any("*" in pattern for pattern in allowed)
    bodies = _some(moto, allowed) if plain else _all(moto.region)
    return tuple(sorted(body["InstanceType"] for body in bodies if _meets(body, requirements, architectures)))


def _some(moto: Moto, names: Sequence[str]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = moto.call("ec2", "describe_instance_types", InstanceTypes=list(names))[
        "InstanceTypes"
    ]
    return found


@cache
def _all(region: str) -> list[dict[str, Any]]:
    # Takes seconds, so it is done once per process and region.
    found: list[dict[str, Any]] = Moto(region).call("ec2", "describe_instance_types")["InstanceTypes"]
    return found


def _meets(body: Mapping[str, Any], requirements: Mapping[str, Any], architectures: Sequence[str]) -> bool:
    name = body["InstanceType"]
    vcpus, memory = body["VCpuInfo"]["DefaultVCpus"], body["MemoryInfo"]["SizeInMiB"]
    processor = body.get("ProcessorInfo", {})
    gpus = body.get("GpuInfo", {}).get("Gpus", ())
    accelerators = [*gpus, *body.get("InferenceAcceleratorInfo", {}).get("Accelerators", ())]
    local_gb = body.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0)
    allowed, excluded = requirements.get("AllowedInstanceTypes"), requirements.get("ExcludedInstanceTypes", ())
    generations = requirements.get("InstanceGenerations")
    return all(
        (
            not architectures or set(architectures) & set(processor.get("SupportedArchitectures", ())),
            not allowed or any(fnmatchcase(name, pattern) for pattern in allowed),
            not any(fnmatchcase(name, pattern) for pattern in excluded),
            _within(vcpus, requirements.get("VCpuCount")),
            _within(memory, requirements.get("MemoryMiB")),
            _within(memory / 1024 / vcpus, requirements.get("MemoryGiBPerVCpu")),
            _within(
                sum(each.get("Count", 0) for each in accelerators), requirements.get("AcceleratorCount", {"Max": 0})
            ),
            _one_of(requirements.get("CpuManufacturers"), processor.get("Manufacturer", "").lower()),
            not requirements.get("AcceleratorNames")
            or any(_plain(each.get("Name", "")) in requirements["AcceleratorNames"] for each in gpus),
            not requirements.get("AcceleratorManufacturers")
            or any(each.get("Manufacturer", "").lower() in requirements["AcceleratorManufacturers"] for each in gpus),
            not generations or ("current" if body.get("CurrentGeneration", True) else "previous") in generations,
            _as_required(requirements.get("BareMetal", "excluded"), body.get("BareMetal", False)),
            _as_required(
                requirements.get("BurstablePerformance", "excluded"), body.get("BurstablePerformanceSupported")
            ),
            _as_required(requirements.get("LocalStorage", "included"), local_gb > 0),
            _within(local_gb, requirements.get("TotalLocalStorageGB")),
            _within(
                body.get("NetworkInfo", {}).get("MaximumNetworkInterfaces", 0),
                requirements.get("NetworkInterfaceCount"),
            ),
        )
    )


def _within(amount: float, bounds: Mapping[str, float] | None) -> bool:
    return bounds is None or bounds.get("Min", 0) <= amount <= bounds.get("Max", float("inf"))


def _one_of(wished: Sequence[str] | None, manufacturer: str) -> bool:
    names = {"amazon": "amazon-web-services", "aws": "amazon-web-services"}
    return not wished or names.get(manufacturer, manufacturer) in wished


def _as_required(wish: str, has: bool | None) -> bool:
    return wish == "included" or (wish == "required") == bool(has)


def _plain(name: str) -> str:
    return name.lower().replace(" ", "-")
