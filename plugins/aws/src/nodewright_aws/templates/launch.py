"""What machines are launched with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A launch configuration, or one version of a launch template."""

    instance_type: str = ""
    #: Of instance types, as boto3 has them, where none is named.
    requirements: Mapping[str, Any] = field(default_factory=dict)
    image: str = ""
    #: GiB by the name of the device.
    volumes: Mapping[str, int] = field(default_factory=dict)
    spot: bool = False
    #: What is left of the type's, if some are switched off.
    vcpus: int | None = None
    #: Network interfaces of the kind EFA.
    efa_interfaces: int = 0


def parse_configuration(body: Mapping[str, Any]) -> Launch:
    """Return one of the ``LaunchConfigurations`` that boto3 answers with."""
    return Launch(
        instance_type=body.get("InstanceType", ""),
        image=body.get("ImageId", ""),
        volumes=parse_volumes(body.get("BlockDeviceMappings", ())),
        spot=bool(body.get("SpotPrice")),
    )


def parse_version(body: Mapping[str, Any]) -> Launch:
    """Return one of the ``LaunchTemplateVersions`` that boto3 answers with."""
    data = body.get("LaunchTemplateData", {})
    return Launch(
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
    """Return the sizes in GiB that ``BlockDeviceMappings`` of boto3 tell, by the name of the device."""
    return {
        mapping["DeviceName"]: mapping["Ebs"]["VolumeSize"]
        for mapping in mappings
        if "DeviceName" in mapping and "VolumeSize" in mapping.get("Ebs", {})
    }


def _vcpus(options: Mapping[str, Any]) -> int | None:
    cores, threads = options.get("CoreCount"), options.get("ThreadsPerCore")
    return cores * threads if cores and threads else None
