"""The template of one machine type, and the one that represents several types."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from nodewright.api import Resources

from nodewright_gce.config.templates import FlexibleTypes
from nodewright_gce.machine_types.allocatable import NodeSetup, allocatable_of, capacity_and_allocatable
from nodewright_gce.machine_types.volumes import CSI_DRIVER, attach_limit
from nodewright_gce.templates.gpus import gpu_resources
from nodewright_gce.templates.launch import Launch

ARCH = "kubernetes.io/arch"
OS = "kubernetes.io/os"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
#: Older labels that the kubelet sets to the same values.
_OLDER_NAMES = {OS: "beta.kubernetes.io/os", ARCH: "beta.kubernetes.io/arch"}
#: The limit that the driver reports in place of its own.
_ATTACH_LIMIT_LABEL = "node-restriction.kubernetes.io/gke-volume-attach-limit-override"


@dataclass(frozen=True, kw_only=True)
class TypeTemplate:
    """The part of a node template that follows from what a machine is launched with."""

    capacity: Resources
    allocatable: Resources
    labels: Mapping[str, str] = field(default_factory=dict)
    csi_drivers: Mapping[str, int] = field(default_factory=dict)


def type_template(
    launch: Launch, setup: NodeSetup, labels: Mapping[str, str], resources: Mapping[str, int]
) -> TypeTemplate:
    """Return the template of a machine whose node has *labels*, and *resources* beside or in place of its own."""
    capacity, _ = capacity_and_allocatable(launch.info, setup)
    capacity |= {**gpu_resources(sum(launch.gpus.values()), labels), **resources}
    own = {INSTANCE_TYPE: launch.info.name, ARCH: launch.info.architecture, OS: "linux"}
    limit = labels.get(_ATTACH_LIMIT_LABEL, "")
    return TypeTemplate(
        capacity=capacity,
        allocatable=allocatable_of(capacity, launch.info, setup),
        labels=own | {old: own[name] for name, old in _OLDER_NAMES.items()},
        csi_drivers={CSI_DRIVER: int(limit) if limit.isdecimal() else attach_limit(launch.info)},
    )


def choose(templates: Sequence[TypeTemplate], choice: FlexibleTypes) -> TypeTemplate:
    """Return the template that represents all *templates*, of which there is at least one."""
    match choice:
        case FlexibleTypes.FIRST:
            return templates[0]
        case FlexibleTypes.LARGEST:
            return max(templates, key=lambda each: (each.capacity["cpu"], each.capacity["memory"]))
        case FlexibleTypes.SMALLEST:
            return _common(templates)


def least(amounts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the smallest amount of each resource that all have."""
    first, *others = amounts
    return {
        name: min(amount, *(other[name] for other in others)) if others else amount
        for name, amount in first.items()
        if all(name in other for other in others)
    }


def _common(templates: Sequence[TypeTemplate]) -> TypeTemplate:
    labels = set(templates[0].labels.items()).intersection(*(each.labels.items() for each in templates))
    return TypeTemplate(
        capacity=least(each.capacity for each in templates),
        allocatable=least(each.allocatable for each in templates),
        labels=dict(sorted(labels)),
        csi_drivers=least(each.csi_drivers for each in templates),
    )
