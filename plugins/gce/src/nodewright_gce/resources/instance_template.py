"""Instance templates: what the machines of a MIG are made of."""

from collections.abc import Mapping

from nodewright_gce.resources.resource import Resource


class MetadataItem(Resource, frozen=True, kw_only=True):
    """One entry of metadata."""

    key: str = ""
    value: str = ""


class Metadata(Resource, frozen=True, kw_only=True):
    """Metadata of a machine."""

    items: tuple[MetadataItem, ...] = ()


class DiskParameters(Resource, frozen=True, kw_only=True):
    """How a disk is made."""

    disk_size_gb: int | str = 0
    disk_type: str = ""
    source_image: str = ""
    architecture: str = ""


class Disk(Resource, frozen=True, kw_only=True):
    """A disk of a machine."""

    boot: bool = False
    #: ``PERSISTENT``, or ``SCRATCH`` for a local SSD.
    type: str = "PERSISTENT"
    interface: str = ""
    disk_size_gb: int | str = 0
    initialize_params: DiskParameters = DiskParameters()


class Accelerator(Resource, frozen=True, kw_only=True):
    """Accelerators that are attached. The type is a bare name here."""

    accelerator_type: str = ""
    accelerator_count: int = 0


class AccessConfig(Resource, frozen=True, kw_only=True):
    """An external address of a network interface."""

    type: str = ""


class NetworkInterface(Resource, frozen=True, kw_only=True):
    """A network interface of a machine."""

    access_configs: tuple[AccessConfig, ...] = ()


class SchedulingPolicy(Resource, frozen=True, kw_only=True):
    """How a machine may be interrupted and when it ends."""

    preemptible: bool = False
    #: ``STANDARD``, ``SPOT``, ``FLEX_START`` or ``RESERVATION_BOUND``.
    provisioning_model: str = "STANDARD"
    instance_termination_action: str = ""


class ReservationAffinity(Resource, frozen=True, kw_only=True):
    """Which reservations machines are taken from."""

    consume_reservation_type: str = ""
    key: str = ""
    values: tuple[str, ...] = ()


class AdvancedMachineFeatures(Resource, frozen=True, kw_only=True):
    """Features that change what the machine shows."""

    threads_per_core: int = 0
    visible_core_count: int = 0


class ConfidentialInstanceConfig(Resource, frozen=True, kw_only=True):
    """Whether the memory of machines is encrypted."""

    enable_confidential_compute: bool = False
    #: ``SEV``, ``SEV_SNP`` or ``TDX``; empty for the default.
    confidential_instance_type: str = ""


class TemplateProperties(Resource, frozen=True, kw_only=True):
    """What machines are made of."""

    #: A bare name.
    machine_type: str = ""
    min_cpu_platform: str = ""
    labels: Mapping[str, str] = {}
    metadata: Metadata = Metadata()
    disks: tuple[Disk, ...] = ()
    guest_accelerators: tuple[Accelerator, ...] = ()
    network_interfaces: tuple[NetworkInterface, ...] = ()
    scheduling: SchedulingPolicy = SchedulingPolicy()
    reservation_affinity: ReservationAffinity = ReservationAffinity()
    advanced_machine_features: AdvancedMachineFeatures = AdvancedMachineFeatures()
    confidential_instance_config: ConfidentialInstanceConfig = ConfidentialInstanceConfig()


class InstanceTemplate(Resource, frozen=True, kw_only=True):
    """An instance template, global or of a region."""

    name: str
    self_link: str = ""
    properties: TemplateProperties = TemplateProperties()

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata by key."""
        return {item.key: item.value for item in self.properties.metadata.items}

    @property
    def spot(self) -> bool:
        """Whether Google may stop the machines at any time."""
        scheduling = self.properties.scheduling
        return scheduling.preemptible or scheduling.provisioning_model == "SPOT"
