"""Templates: what a new node of a group looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.objects import Pod, Resources, Taint
from nodewright.objects.frozen import freeze_fields


@dataclass(frozen=True, kw_only=True)
class NodeTemplate:
    """A node before it exists, with only the pods that come with it.

    Resources are integers in the units of `nodewright.objects.Resources`. The labels include the well-known ones: zone,
    instance type (unless the group takes machines of several types), architecture and operating system. The core adds
    the hostname label to each simulated node.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    capacity: Resources
    #: What pods may use: capacity less what the kubelet and the system reserve.
    allocatable: Resources
    #: Static pods that the kubelet starts by itself. The core adds DaemonSet pods, except to a template `from_node`.
    pods: tuple[Pod, ...] = ()
    #: How many volumes a node can attach, by CSI driver; only where the provider knows it.
    csi_drivers: Mapping[str, int] = field(default_factory=dict)
    #: Zones in which new nodes may start, if there are several. The zone labels then name the zone that is expected
    #: for the next node, and may change from loop to loop.
    zones: tuple[str, ...] = ()
    #: Whether new nodes are expected to be cordoned.
    unschedulable: bool = False
    #: The node that the core made this template from; `pods` are complete then. Empty if a provider made it.
    from_node: str = ""

    def __post_init__(self) -> None:
        freeze_fields(
            self, "labels", "annotations", "taints", "capacity", "allocatable", "pods", "csi_drivers", "zones"
        )


@dataclass(frozen=True, kw_only=True)
class TemplateDifference:
    """One difference between the nodes of a group and its provider's template."""

    group: str
    #: What differs: ``capacity``, ``allocatable``, ``label`` or ``taint``.
    kind: str
    #: The resource, the label's key, or the taint as ``key:effect``.
    name: str
    #: Amounts are integers as in `nodewright.objects.Resources`; None if there is no such thing.
    promised: int | str | None
    real: int | str | None
