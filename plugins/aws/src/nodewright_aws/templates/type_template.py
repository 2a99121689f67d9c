"""The template of one instance type, and the one that represents several types."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodewright.api import Resources

from nodewright_aws.config import AmiFamily, KubeletSettings, MixedInstances
from nodewright_aws.instance_types.allocatable import capacity_and_allocatable, ebs_attach_limit
from nodewright_aws.instance_types.info import InstanceTypeInfo
from nodewright_aws.templates.launchable_types import LaunchableType
from nodewright_aws.templates.managed import ManagedGroup

ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
#: Older labels that the kubelet sets to the same values.
_OLDER_NAMES = {OS: "beta.kubernetes.io/os", ARCH: "beta.kubernetes.io/arch"}
_EBS_DRIVER = "ebs.csi.aws.com"
#: The volume of Bottlerocket that pods write to; its root device is read-only.
_BOTTLEROCKET_DATA = "/dev/xvdb"


@dataclass(frozen=True, kw_only=True)
class TypeTemplate:
    """The part of a node template that follows from instance type and image."""

    capacity: Resources
    allocatable: Resources
    labels: Mapping[str, str] = field(default_factory=dict)
    csi_drivers: Mapping[str, int] = field(default_factory=dict)


def type_template(
    launchable: LaunchableType, info: InstanceTypeInfo, kubelet: KubeletSettings, managed: ManagedGroup | None
) -> TypeTemplate:
    """Return the template of a type. Explicit settings of *kubelet* override what the image and EKS say."""
    image = launchable.image
    family = (managed.family if managed else None) or (image.family if image else None)
    kubelet = _of_group(kubelet, family, managed)
    volumes = {**(image.volumes if image else {}), **launchable.launch.volumes}
    disk = _disk_gib(launchable, volumes, family, managed)
    info = replace(
        info,
        vcpus=min(info.vcpus, launchable.launch.vcpus or info.vcpus),
        efa_interfaces=min(info.efa_interfaces, launchable.launch.efa_interfaces),
    )
    capacity, allocatable = capacity_and_allocatable(info, kubelet, root_volume_gib=disk)
    windows = (image is not None and image.windows) or (managed is not None and managed.windows)
    labels = {INSTANCE_TYPE: info.name, ARCH: info.arch, OS: "windows" if windows else "linux"}
    labels |= {old: labels[name] for name, old in _OLDER_NAMES.items()}
    return TypeTemplate(
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        csi_drivers={_EBS_DRIVER: _attachable(info, volumes)} if info.ebs_attachments else {},
    )


def choose(templates: Sequence[TypeTemplate], choice: MixedInstances) -> TypeTemplate:
    """Return the template that represents all *templates*, of which there is at least one."""
    match choice:
        case MixedInstances.FIRST:
            return templates[0]
        case MixedInstances.LARGEST:
            return max(templates, key=lambda each: (each.capacity["cpu"], each.capacity["memory"]))
        case MixedInstances.SMALLEST:
            return _common(templates)


def _common(templates: Sequence[TypeTemplate]) -> TypeTemplate:
    labels = set(templates[0].labels.items()).intersection(*(each.labels.items() for each in templates))
    return TypeTemplate(
        capacity=_least(each.capacity for each in templates),
        allocatable=_least(each.allocatable for each in templates),
        labels=dict(sorted(labels)),
        csi_drivers=_least(each.csi_drivers for each in templates),
    )


def _least(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the smallest amount of each resource that all have."""
    first, *others = amounts
    return {
        name: min(amount, *(other[name] for other in others)) if others else amount
        for name, amount in first.items()
        if all(name in other for other in others)
    }


def _of_group(kubelet: KubeletSettings, family: AmiFamily | None, managed: ManagedGroup | None) -> KubeletSettings:
    """Return *kubelet* with unset fields replaced by what is known of the group."""
    found: dict[str, object] = {}
    if family is not None:
        found["ami_family"] = family
    if managed is not None and managed.ami_type != "CUSTOM":
        found["max_pods"] = "managed"
    unset = {name: value for name, value in found.items() if name not in kubelet.model_fields_set}
    return kubelet.model_copy(update=unset) if unset else kubelet


def _attachable(info: InstanceTypeInfo, volumes: Mapping[str, int]) -> int:
    """Return how many volumes pods may attach besides the *volumes* that the machine is launched with."""
    return max(0, ebs_attach_limit(info) - max(0, len(volumes) - 1))


def _disk_gib(
    launchable: LaunchableType, volumes: Mapping[str, int], family: AmiFamily | None, managed: ManagedGroup | None
) -> int | None:
    """Return the size of the disk that pods write to; None if it is unknown."""
    root = launchable.image.root_device if launchable.image else ""
    device = _BOTTLEROCKET_DATA if family is AmiFamily.BOTTLEROCKET else root
    if device in volumes:
        return volumes[device]
    if managed is not None and managed.disk_gib:
        return managed.disk_gib
    return max(volumes.values(), default=None)
