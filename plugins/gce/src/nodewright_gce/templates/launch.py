"""What a machine is launched with: its type, and what its instance template adds or leaves out."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nodewright_gce.machine_types.hardware import Hardware
from nodewright_gce.machine_types.info import MachineTypeInfo
from nodewright_gce.resources.instance_template import (
    AdvancedMachineFeatures,
    ConfidentialInstanceConfig,
    Disk,
    TemplateProperties,
)
from nodewright_gce.resources.resource import last_part

_LOCAL_SSD = "SCRATCH"
_ATTACHED_SSD_GIB = 375
#: Google's default type of disks, and the smallest size of its images.
_DISK_TYPE, _DISK_GIB = "pd-standard", 10


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A machine as it is launched."""

    #: Without vCPUs that the template hides.
    info: MachineTypeInfo
    #: Google charges for hidden ones as well.
    vcpus_sold: int
    spot: bool = False
    #: By type, such as ``nvidia-tesla-t4``: attached, or those that the type has.
    gpus: Mapping[str, int]
    local_ssds: int = 0
    #: Of each; of the smallest, if they differ.
    local_ssd_gib: int = _ATTACHED_SSD_GIB
    boot_disk: str = _DISK_TYPE
    boot_disk_gib: int = _DISK_GIB
    #: GB of disks that outlive a restart, by type; with the boot disk.
    disks: Mapping[str, int]
    external_addresses: int = 0
    encrypted_memory: bool = False

    def hardware(self, region: str) -> Hardware:
        """Return what is paid for."""
        return Hardware(
            region=region,
            machine_type=self.info.name,
            spot=self.spot,
            vcpus=self.vcpus_sold,
            memory_mib=self.info.memory_mib,
            gpus=dict(self.gpus),
            local_ssd_gib=self.local_ssds * self.local_ssd_gib,
            boot_disk=self.boot_disk,
            boot_disk_gib=self.boot_disk_gib,
        )


def launch_of(info: MachineTypeInfo, properties: TemplateProperties, *, spot: bool) -> Launch:
    """Return what *properties* make of a machine of the type."""
    attached = [disk for disk in properties.disks if disk.type == _LOCAL_SSD]
    lasting = [disk for disk in properties.disks if disk.type != _LOCAL_SSD]
    boot = next((disk for disk in lasting if disk.boot), Disk(boot=True))
    sizes = [_size(disk) or _ATTACHED_SSD_GIB for disk in attached] + [info.local_ssd_gib] * bool(info.local_ssds)
    disks: Counter[str] = Counter()
    for disk in lasting:
        disks[_type(disk)] += _size(disk) or _DISK_GIB
    return Launch(
        info=replace(info, vcpus=_vcpus(info, properties.advanced_machine_features)),
        vcpus_sold=info.vcpus // 1000,
        spot=spot,
        gpus=_gpus(info, properties),
        local_ssds=len(attached) + info.local_ssds,
        local_ssd_gib=min(sizes, default=_ATTACHED_SSD_GIB),
        boot_disk=_type(boot),
        boot_disk_gib=_size(boot) or _DISK_GIB,
        disks=dict(disks),
        encrypted_memory=_is_encrypted(properties.confidential_instance_config),
        external_addresses=sum(len(each.access_configs) for each in properties.network_interfaces),
    )


def _vcpus(info: MachineTypeInfo, features: AdvancedMachineFeatures) -> int:
    cores = features.visible_core_count or info.vcpus // 1000 // info.threads_per_core
    threads = min(features.threads_per_core or info.threads_per_core, info.threads_per_core)
    hidden = features.visible_core_count or features.threads_per_core
    return min(info.vcpus, 1000 * cores * threads) if hidden and not info.shared_core else info.vcpus


def _is_encrypted(config: ConfidentialInstanceConfig) -> bool:
    return config.enable_confidential_compute or bool(config.confidential_instance_type)


def _gpus(info: MachineTypeInfo, properties: TemplateProperties) -> dict[str, int]:
    found: Counter[str] = Counter()
    for each in properties.guest_accelerators:
        name = last_part(each.accelerator_type)
        if name.startswith("nvidia-"):
            found[name] += each.accelerator_count
    return dict(found) if found else {info.gpu_type: info.gpus} if info.gpus else {}


def _size(disk: Disk) -> int:
    return int(disk.disk_size_gb or disk.initialize_params.disk_size_gb or 0)


def _type(disk: Disk) -> str:
    return last_part(disk.initialize_params.disk_type) or _DISK_TYPE
