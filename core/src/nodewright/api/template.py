"""What a new node of a group looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.objects import Pod, Resources, Taint


@dataclass(frozen=True, kw_only=True)
class NodeTemplate:
    """A node before it exists, empty but for the pods that come with it.

    Resources are integers in the units of `nodewright.objects.Resources`. Labels include the well-known ones (zone,
    instance type, arch, os); the hostname label is set by the core for each simulated node.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    capacity: Resources
    #: What pods may use: capacity without what kubelet and system reserve.
    allocatable: Resources
    #: Static pods that the kubelet starts by itself. DaemonSet pods are added by the core.
    pods: tuple[Pod, ...] = ()
    #: Attach limit by CSI driver, where the provider knows it.
    csi_drivers: Mapping[str, int] = field(default_factory=dict)
