"""How the templates of groups are made."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from nodewright.api import PluginConfig
from pydantic import Field

from nodewright_gce.config.fields import Quantity, Threshold

Reservable = Literal["cpu", "memory", "ephemeral-storage"]


class OsDistribution(StrEnum):
    """Which operating system machines boot. Windows is not among them."""

    #: As ``kube-env`` says; ``other`` without it.
    AUTO = "auto"
    COS = "cos"
    UBUNTU = "ubuntu"
    #: Anything else, such as Debian, Flatcar or Talos.
    OTHER = "other"


class Reservations(StrEnum):
    """What kubelets reserve for themselves and the system."""

    #: What ``kube-env`` says. Without that: as GKE on nodes of GKE, nothing elsewhere.
    AUTO = "auto"
    #: By the formulas of GKE.
    GKE = "gke"
    #: Nothing but `KubeletSettings.kube_reserved` and `KubeletSettings.system_reserved`.
    NONE = "none"


class KubeletSettings(PluginConfig, defer_build=True):
    """Settings of the kubelets of new nodes that change what pods may use.

    What is set here counts, whatever ``kube-env`` says; a group's own metadata counts more.
    """

    os_distribution: OsDistribution = OsDistribution.AUTO
    reservations: Reservations = Reservations.AUTO
    kube_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    system_reserved: Mapping[Reservable, Quantity] = Field(default_factory=dict)
    eviction_hard: Mapping[Literal["memory.available", "nodefs.available"], Threshold] = Field(default_factory=dict)
    #: How many pods a node takes; by default as ``kube-env`` says, or 110.
    max_pods: int | None = Field(default=None, ge=1)
    #: Percent of the memory sold that the booted system does not see; by default an estimate by family and size.
    memory_overhead: float | None = Field(default=None, ge=0, lt=100)
    #: Pods write to the machine's local SSDs, joined into one; by default as ``kube-env`` says.
    local_ssds_as_storage: bool | None = None
    #: Kubelets run kube-proxy as a static pod; by default only on nodes of GKE that do not run it as a DaemonSet.
    kube_proxy: bool | None = None


class FlexibleTypes(StrEnum):
    """Which of the machine types of a flexible group its template is made of."""

    #: What all of them have: the smallest amount of each resource, and the labels that they share.
    SMALLEST = "smallest"
    #: The first one of the lowest rank, which Google prefers.
    FIRST = "first"
    #: The one with the most CPU, and of those the one with the most memory.
    LARGEST = "largest"


class ZoneChoice(StrEnum):
    """In which zone a new machine is expected, for regional groups."""

    #: The one with the fewest machines.
    NEXT = "next"
    #: The first by name.
    FIRST = "first"


class TemplateSettings(PluginConfig, defer_build=True):
    """How the templates of groups are made."""

    #: Take machine types from the bundled table, and never ask Google.
    static_machine_types: bool = False
    flexible_types: FlexibleTypes = FlexibleTypes.SMALLEST
    zones: ZoneChoice = ZoneChoice.NEXT
    kubelet: KubeletSettings = Field(default_factory=KubeletSettings)
