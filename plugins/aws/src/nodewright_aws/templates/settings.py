"""How new nodes are foreseen."""

from enum import StrEnum

from nodewright.api import PluginConfig
from pydantic import Field

from nodewright_aws.shapes.settings import KubeletSettings


class MixedInstances(StrEnum):
    """Which of the instance types that a group may launch its template is made of."""

    #: What every one of them has: of each resource the smallest amount, and the labels that all share.
    SMALLEST = "smallest"
    #: The first, as Cluster Autoscaler has it. Right if the group takes types by priority.
    FIRST = "first"
    #: The one with the most CPU, and of those the one with the most memory.
    LARGEST = "largest"


class ZoneChoice(StrEnum):
    """Which zone new machines of a group with several zones are expected in."""

    #: The one with the fewest machines, in which AWS launches next.
    NEXT = "next"
    #: The first by name, or that of a node that is there, as Cluster Autoscaler has it.
    FIRST = "first"


class TemplateSettings(PluginConfig, defer_build=True):
    """How new nodes are foreseen."""

    mixed_instances: MixedInstances = MixedInstances.SMALLEST
    zones: ZoneChoice = ZoneChoice.NEXT
    kubelet: KubeletSettings = Field(default_factory=KubeletSettings)
