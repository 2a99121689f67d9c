"""What a new node of a group looks like."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nodewright.objects import Pod, Resources, Taint


@dataclass(frozen=True, kw_only=True)
class NodeTemplate:
    """A node before it exists, empty but for the pods that come with it.

    Resources are integers in the units of `nodewright.objects.Resources`. Labels include the well-known ones (zone,
    instance type, arch, os), without the type if the group draws from pools of several; the hostname label is set by
    the core for each simulated node.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    capacity: Resources
    #: What pods may use: capacity without what kubelet and system reserve.
    allocatable: Resources
    #: Static pods that the kubelet starts by itself. DaemonSet pods are added by the core, unless it is `from_node`.
    pods: tuple[Pod, ...] = ()
    #: Attach limit by CSI driver, where the provider knows it.
    csi_drivers: Mapping[str, int] = field(default_factory=dict)
    #: Zones that new nodes may come up in, where there are several. Labels with one of them for a value then say where
    #: the very next node is expected, which may change from loop to loop.
    zones: tuple[str, ...] = ()
    #: Whether new nodes come cordoned, as far as anybody can tell.
    unschedulable: bool = False
    #: The node that the core took this from, of which `pods` are all that come along; empty if a provider made it.
    from_node: str = ""


@dataclass(frozen=True, kw_only=True)
class TemplateDifference:
    """Something about the nodes of a group that is not as its provider's template promises."""

    group: str
    #: What kind of thing: ``capacity``, ``allocatable``, ``label`` or ``taint``.
    kind: str
    #: The resource, the label's key, or the taint as ``key:effect``.
    name: str
    #: Amounts are integers as in `nodewright.objects.Resources`; None is for what is not there.
    promised: int | str | None
    real: int | str | None
