"""What a machine of an instance type has."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The accelerators of a machine, all alike."""

    #: As AWS writes it, such as ``T4`` or ``A10G``.
    name: str
    #: As AWS writes it, such as ``NVIDIA``.
    manufacturer: str
    count: int
    memory_mib: int = 0


@dataclass(frozen=True, kw_only=True)
class Shape:
    """An instance type."""

    name: str
    vcpus: int
    #: What AWS sells; a part of it is never seen by the system that boots.
    memory_mib: int
    #: ``amd64`` or ``arm64``, as Kubernetes names it.
    arch: str = "amd64"
    #: ``nitro``, ``xen``, or empty for bare metal.
    hypervisor: str = "nitro"
    gpu: Gpu | None = None
    #: Inferentia and Trainium: devices of AWS' own.
    neuron_devices: int = 0
    neuron_cores: int = 0
    #: Network interfaces of the first card, and addresses of each.
    interfaces: int = 0
    addresses_per_interface: int = 0
    efa_interfaces: int = 0
    #: Disks of the machine's own, in GB in all and by number; 0 if it has none.
    local_disk_gb: int = 0
    local_disks: int = 0
    #: EBS volumes that may be attached, whether they share the limit with interfaces or not.
    ebs_attachments: int = 0
    ebs_shared_limit: bool = True
    spot: bool = True
    on_demand: bool = True
