"""A new machine as Kubernetes will see it, and what several sorts of them have in common."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nodewright.api import Resources

from nodewright_aws.shapes.allocatable import capacity_and_allocatable
from nodewright_aws.shapes.settings import AmiFamily, KubeletSettings
from nodewright_aws.shapes.shape import Shape
from nodewright_aws.shapes.storage import ebs_attach_limit
from nodewright_aws.templates.launches import Offer
from nodewright_aws.templates.managed import ManagedGroup
from nodewright_aws.templates.settings import MixedInstances

ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
#: Names of labels under which the kubelet sets the same.
_OLDER_NAMES = {OS: "beta.kubernetes.io/os", ARCH: "beta.kubernetes.io/arch"}
_EBS_DRIVER = "ebs.csi.aws.com"
#: Where Bottlerocket keeps what pods write; its root device never changes.
_BOTTLEROCKET_DATA = "/dev/xvdb"


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A new machine, as far as its type and image tell."""

    capacity: Resources
    allocatable: Resources
    labels: Mapping[str, str] = field(default_factory=dict)
    csi_drivers: Mapping[str, int] = field(default_factory=dict)


def foresee(offer: Offer, shape: Shape, kubelet: KubeletSettings, managed: ManagedGroup | None) -> Machine:
    """Return what a machine of *offer* looks like. *kubelet* goes before what the image and EKS tell of it."""
    image = offer.image
    family = (managed.family if managed else None) or (image.family if image else None)
    kubelet = _of_group(kubelet, family, managed)
    volumes = {**(image.volumes if image else {}), **offer.launch.volumes}
    disk = _disk_gib(offer, volumes, family, managed)
    shape = replace(
        shape,
        vcpus=min(shape.vcpus, offer.launch.vcpus or shape.vcpus),
        efa_interfaces=min(shape.efa_interfaces, offer.launch.efa_interfaces),
    )
    capacity, allocatable = capacity_and_allocatable(shape, kubelet, root_volume_gib=disk)
    windows = (image is not None and image.windows) or (managed is not None and managed.windows)
    labels = {INSTANCE_TYPE: shape.name, ARCH: shape.arch, OS: "windows" if windows else "linux"}
    labels |= {old: labels[name] for name, old in _OLDER_NAMES.items()}
    return Machine(
        capacity=capacity,
        allocatable=allocatable,
        labels=labels,
        csi_drivers={_EBS_DRIVER: _attachable(shape, volumes)} if shape.ebs_attachments else {},
    )


def choose(machines: Sequence[Machine], choice: MixedInstances) -> Machine:
    """Return the one that stands for all of *machines*, of which there is at least one."""
    match choice:
        case MixedInstances.FIRST:
            return machines[0]
        case MixedInstances.LARGEST:
            return max(machines, key=lambda machine: (machine.capacity["cpu"], machine.capacity["memory"]))
        case MixedInstances.SMALLEST:
            return _common(machines)


def _common(machines: Sequence[Machine]) -> Machine:
    labels = set(machines[0].labels.items()).intersection(*(machine.labels.items() for machine in machines))
    return Machine(
        capacity=_least(machine.capacity for machine in machines),
        allocatable=_least(machine.allocatable for machine in machines),
        labels=dict(sorted(labels)),
        csi_drivers=_least(machine.csi_drivers for machine in machines),
    )


def _least(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the smallest amount of everything that all have."""
    first, *others = amounts
    return {
        name: min(amount, *(other[name] for other in others)) if others else amount
        for name, amount in first.items()
        if all(name in other for other in others)
    }


def _of_group(kubelet: KubeletSettings, family: AmiFamily | None, managed: ManagedGroup | None) -> KubeletSettings:
    """Return *kubelet* with what is known of one group in place of what nobody has set."""
    found: dict[str, object] = {}
    if family is not None:
        found["ami_family"] = family
    if managed is not None and managed.ami_type != "CUSTOM":
        found["max_pods"] = "managed"
    unset = {name: value for name, value in found.items() if name not in kubelet.model_fields_set}
    return kubelet.model_copy(update=unset) if unset else kubelet


def _attachable(shape: Shape, volumes: Mapping[str, int]) -> int:
    """Return how many volumes pods may have, besides the *volumes* that the machine comes with."""
    return max(0, ebs_attach_limit(shape) - max(0, len(volumes) - 1))


def _disk_gib(
    offer: Offer, volumes: Mapping[str, int], family: AmiFamily | None, managed: ManagedGroup | None
) -> int | None:
    """Return the size of the disk that pods write to, None if nothing tells."""
    root = offer.image.root_device if offer.image else ""
    device = _BOTTLEROCKET_DATA if family is AmiFamily.BOTTLEROCKET else root
    if device in volumes:
        return volumes[device]
    if managed is not None and managed.disk_gib:
        return managed.disk_gib
    return max(volumes.values(), default=None)
