"""What a machine type has."""

from dataclasses import dataclass

from nodewright_gce.resources.machine_type import MachineType
from nodewright_gce.resources.resource import last_part

_ARM_FAMILIES = frozenset({"a4x", "c4a", "n4a", "t2a"})
_ARCHITECTURES = {"ARM64": "arm64", "X86_64": "amd64"}
#: Families whose vCPUs are whole cores. Those of all others are threads, two of a core.
_WHOLE_CORES = frozenset({"a4x", "c4a", "h3", "h4d", "n4a", "t2a", "t2d"})
#: Families that are sold as n1, whose custom types have no family in their names.
_OLD_FAMILIES = frozenset({"custom", "f1", "g1"})
#: GiB of a local SSD, by the start of the type's name; the API does not tell.
_SSD_SIZES = {
    "z3-highmem-192-": 6000,
    "c4-standard-288-lssd-metal": 3000,
    "c4-highmem-288-lssd-metal": 3000,
    "z3-": 3000,
}
_SSD_GIB = 375


@dataclass(frozen=True, kw_only=True)
class MachineTypeInfo:
    """A machine type, with the parts of the API's ``machineTypes`` that count here."""

    name: str
    #: In thousandths, as `nodewright.api.Resources` counts them. Types that share a core have as many as Google shows.
    vcpus: int
    #: What Google sells; the booted system sees a bit less.
    memory_mib: int
    #: ``amd64`` or ``arm64``, as Kubernetes names it.
    architecture: str = "amd64"
    #: GPUs that every machine of the type has, and their name, such as ``nvidia-l4``.
    gpus: int = 0
    gpu_type: str = ""
    #: Local SSDs that every machine of the type has, and the size of each.
    local_ssds: int = 0
    local_ssd_gib: int = _SSD_GIB
    shared_core: bool = False
    #: Disks that may be attached, with the boot disk; 0 if that is unknown.
    disks: int = 0

    @property
    def family(self) -> str:
        """The name up to the first dash, such as ``n2``; ``n1`` also for the types that are sold as such."""
        return family_of(self.name)

    @property
    def threads_per_core(self) -> int:
        """How many vCPUs a core has, unless the template says otherwise."""
        return 1 if self.family in _WHOLE_CORES else 2


def family_of(name: str) -> str:
    """Return the family of the type *name*."""
    family = name.partition("-")[0]
    return "n1" if family in _OLD_FAMILIES else family


def architecture_of(name: str) -> str:
    """Return the architecture of the type *name*, as Kubernetes names it."""
    return "arm64" if family_of(name) in _ARM_FAMILIES else "amd64"


def read_machine_type(body: MachineType) -> MachineTypeInfo:
    """Return what the API says about a type."""
    gpus = [each for each in body.accelerators if last_part(each.guest_accelerator_type).startswith("nvidia-")]
    return MachineTypeInfo(
        name=body.name,
        vcpus=1000 * body.guest_cpus,
        memory_mib=body.memory_mb,
        architecture=_ARCHITECTURES.get(body.architecture) or architecture_of(body.name),
        gpus=sum(each.guest_accelerator_count for each in gpus),
        gpu_type=last_part(gpus[0].guest_accelerator_type) if gpus else "",
        local_ssds=body.bundled_local_ssds.partition_count,
        local_ssd_gib=next((gib for start, gib in _SSD_SIZES.items() if body.name.startswith(start)), _SSD_GIB),
        shared_core=body.is_shared_cpu,
        disks=body.maximum_persistent_disks,
    )
