"""What an instance type has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ARCHITECTURES = {"x86_64": "amd64", "arm64": "arm64"}


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The accelerators of an instance type, all alike."""

    #: As AWS writes it, such as ``T4`` or ``A10G``.
    name: str
    #: As AWS writes it, such as ``NVIDIA``.
    manufacturer: str
    count: int
    memory_mib: int = 0


@dataclass(frozen=True, kw_only=True)
class InstanceTypeInfo:
    """An instance type, with the parts of AWS' ``InstanceTypeInfo`` that count here."""

    name: str
    vcpus: int
    #: What AWS sells; the booted system sees a bit less.
    memory_mib: int
    #: ``amd64`` or ``arm64``, as Kubernetes names it.
    arch: str = "amd64"
    #: ``nitro``, ``xen``, or empty for bare metal.
    hypervisor: str = "nitro"
    gpu: Gpu | None = None
    #: Inferentia and Trainium: devices, and cores of all devices.
    neuron_devices: int = 0
    neuron_cores: int = 0
    #: Network interfaces of the card that pods use, and IPv4 addresses of each.
    interfaces: int = 0
    addresses_per_interface: int = 0
    efa_interfaces: int = 0
    #: NVMe disks of the machine's own, in GB in all and by number; 0 if it has none.
    local_disk_gb: int = 0
    local_disks: int = 0
    #: EBS volumes that may be attached, whether they share the limit with interfaces or not.
    ebs_attachments: int = 0
    ebs_shared_limit: bool = True
    spot: bool = True
    on_demand: bool = True

    @property
    def family(self) -> str:
        """The name up to the dot, such as ``m5``."""
        return self.name.partition(".")[0]

    @property
    def bare_metal(self) -> bool:
        """Whether there is no hypervisor."""
        return not self.hypervisor


def parse_instance_type_info(body: Mapping[str, Any]) -> InstanceTypeInfo:
    """Return one of the ``InstanceTypes`` of boto3's ``describe_instance_types``."""
    network = body.get("NetworkInfo", {})
    ebs = body.get("EbsInfo", {})
    usage = body.get("SupportedUsageClasses", ())
    neuron = body.get("NeuronInfo", {}).get("NeuronDevices", ())
    disk_gb, disks = _local_disks(body.get("InstanceStorageInfo", {}))
    return InstanceTypeInfo(
        name=body["InstanceType"],
        vcpus=body["VCpuInfo"]["DefaultVCpus"],
        memory_mib=body["MemoryInfo"]["SizeInMiB"],
        arch=_arch(body.get("ProcessorInfo", {}).get("SupportedArchitectures", ())),
        hypervisor="" if body.get("BareMetal") else body.get("Hypervisor", "nitro"),
        gpu=_gpu(body.get("GpuInfo", {}).get("Gpus", ())),
        neuron_devices=sum(device["Count"] for device in neuron),
        neuron_cores=sum(device["Count"] * device["CoreInfo"]["Count"] for device in neuron),
        interfaces=_interfaces(network),
        addresses_per_interface=network.get("Ipv4AddressesPerInterface", 0),
        efa_interfaces=network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        local_disk_gb=disk_gb,
        local_disks=disks,
        ebs_attachments=ebs.get("MaximumEbsAttachments", 0),
        ebs_shared_limit=ebs.get("AttachmentLimitType", "shared") == "shared",
        spot="spot" in usage,
        on_demand="on-demand" in usage,
    )


def _arch(names: list[str]) -> str:
    return next((_ARCHITECTURES[name] for name in names if name in _ARCHITECTURES), names[0] if names else "")


def _interfaces(network: Mapping[str, Any]) -> int:
    default = network.get("DefaultNetworkCardIndex", 0)
    cards = {card["NetworkCardIndex"]: card for card in network.get("NetworkCards", ())}
    card: Mapping[str, int] = cards.get(default, network)
    return card.get("MaximumNetworkInterfaces", 0)


def _gpu(gpus: list[Mapping[str, Any]]) -> Gpu | None:
    if not gpus:
        return None
    first = gpus[0]
    return Gpu(
        name=first["Name"],
        manufacturer=first["Manufacturer"],
        count=sum(gpu["Count"] for gpu in gpus),
        memory_mib=first.get("MemoryInfo", {}).get("SizeInMiB", 0),
    )


def _local_disks(storage: Mapping[str, Any]) -> tuple[int, int]:
    if storage.get("NvmeSupport", "unsupported") == "unsupported":
        return 0, 0
    return storage.get("TotalSizeInGB", 0), sum(disk["Count"] for disk in storage.get("Disks", ()))
