"""Machine types, as ``machineTypes`` writes them."""

from nodewright_gce.resources.resource import Resource


class BuiltInAccelerator(Resource, frozen=True, kw_only=True):
    """Accelerators that every machine of the type has."""

    guest_accelerator_type: str = ""
    guest_accelerator_count: int = 0


class BundledLocalSsds(Resource, frozen=True, kw_only=True):
    """Local SSDs that every machine of the type has."""

    default_interface: str = ""
    partition_count: int = 0


class MachineType(Resource, frozen=True, kw_only=True):
    """A machine type in a zone."""

    name: str
    guest_cpus: int = 0
    memory_mb: int = 0
    is_shared_cpu: bool = False
    #: ``X86_64`` or ``ARM64``; may be absent.
    architecture: str = ""
    accelerators: tuple[BuiltInAccelerator, ...] = ()
    bundled_local_ssds: BundledLocalSsds = BundledLocalSsds()
    maximum_persistent_disks: int = 0
    zone: str = ""
