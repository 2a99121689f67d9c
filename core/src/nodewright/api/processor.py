"""Processors: the steps of the chains that YAML names under ``processors``."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.plugin import Plugin
from nodewright.api.reasons import Reason
from nodewright.api.simulation import Simulation
from nodewright.objects import Node
from nodewright.objects.frozen import freeze_fields


@dataclass(frozen=True, kw_only=True)
class Intended:
    """Pods for which nodes were ordered in an earlier loop, and those nodes, which are still upcoming."""

    pods: PodSet
    nodes: Sequence[str]

    def __post_init__(self) -> None:
        freeze_fields(self, "nodes")


@dataclass(frozen=True, kw_only=True)
class ProcessorContext:
    """What a processor may know."""

    now: datetime
    #: The cluster with upcoming nodes. What a processor places stays placed for the rest of the decision.
    simulation: Simulation
    groups: Sequence[GroupFacts]
    #: What upcoming nodes are meant for, in the order in which pods were placed on them when they were ordered.
    intended: Sequence[Intended] = ()
    #: Pods with a lower priority than this bring no nodes.
    expendable_priority_cutoff: int = -10
    #: Pods of nodes that are being drained. They still run there and will need another place.
    returning: Sequence[PodSet] = ()

    def __post_init__(self) -> None:
        freeze_fields(self, "groups", "intended", "returning")


class PendingPodsProcessor(Plugin):
    """A step of ``processors.pendingPods``: takes pods off the list of those that need nodes, or adds to it.

    Called once per loop (not if the list is empty, unless it adds pods), in the order of the YAML, on the loop's
    thread. Must be pure: same input, same answer; no I/O, no clock. An exception leaves the list as it was before this
    step.
    """

    #: The code that explains why a pod that this step took off the list gets no help.
    reason: ClassVar[Reason] = Reason.FILTERED
    #: Whether it may add pods: pods that are expected, though they do not wait now or do not exist yet.
    adds_pods: ClassVar[bool] = False

    @abstractmethod
    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return the pods that still need nodes: a subset of *pods*, in which sets may be split or their pod changed.

        A step that `adds_pods` may return further sets. Their keys must be neither on the list nor taken off it before.
        """


class ScaleDownCandidatesProcessor(Plugin):
    """A step of ``processors.scaleDownCandidates``: takes nodes off, or reorders, those looked at for removal.

    Called once per loop, in the order of the YAML, on the loop's thread. Must be pure: same input, same answer; no I/O,
    no clock. An exception empties the list: a faulty step never causes a removal.
    """

    #: The code that explains why a node that this step took off is kept.
    reason: ClassVar[Reason] = Reason.FILTERED

    @abstractmethod
    def process(self, nodes: Sequence[Node], context: ProcessorContext) -> Sequence[Node]:
        """Return the nodes to look at, in order."""
