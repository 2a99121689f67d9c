"""What instances are launched with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class LaunchTemplateData:
    """A launch configuration, or one version of a launch template."""

    instance_type: str = ""
    #: Requirements of instance types as in boto3, if no type is named.
    requirements: Mapping[str, Any] = field(default_factory=dict)
    image: str = ""
    #: GiB by the name of the device.
    volumes: Mapping[str, int] = field(default_factory=dict)
    spot: bool = False
    #: Fewer than the type's, if some are disabled; None for all.
    vcpus: int | None = None
    #: Network interfaces of type EFA.
    efa_interfaces: int = 0


def parse_configuration(body: Mapping[str, Any]) -> LaunchTemplateData:
    """Return one of the ``LaunchConfigurations`` of boto3."""
    return LaunchTemplateData(
        instance_type=body.get("InstanceType", ""),
        image=body.get("ImageId", ""),
        volumes=parse_volumes(body.get("BlockDeviceMappings", ())),
        spot=bool(body.get("SpotPrice")),
    )


def parse_version(body: Mapping[str, Any]) -> LaunchTemplateData:
    """Return one of the ``LaunchTemplateVersions`` of boto3."""
    data = body.get("LaunchTemplateData", {})
    return LaunchTemplateData(
        instance_type=data.get("InstanceType", ""),
        requirements=data.get("InstanceRequirements", {}),
        image=data.get("ImageId", ""),
        volumes=parse_volumes(data.get("BlockDeviceMappings", ())),
        spot=data.get("InstanceMarketOptions", {}).get("MarketType") == "spot",
        vcpus=_vcpus(data.get("CpuOptions", {})),
        efa_interfaces=sum(
            interface.get("InterfaceType", "").startswith("efa") for interface in data.get("NetworkInterfaces", ())
        ),
    )


def parse_volumes(mappings: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return the sizes in GiB in ``BlockDeviceMappings`` of boto3, by the name of the device."""
    return {
        mapping["DeviceName"]: mapping["Ebs"]["VolumeSize"]
        for mapping in mappings
        if "DeviceName" in mapping and "VolumeSize" in mapping.get("Ebs", {})
    }


def _vcpus(options: Mapping[str, Any]) -> int | None:
    cores, threads = options.get("CoreCount"), options.get("ThreadsPerCore")
    return cores * threads if cores and threads else None
