"""Drain rules: what draining a node means for a pod that runs there."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import ClassVar

from nodewright.api.plugin import Plugin
from nodewright.objects import Pod


class PodFate(Enum):
    """What becomes of a pod when its node is drained."""

    #: Nobody misses it: it goes down with its node, or is gone already.
    STAYS = "stays"
    #: It may be evicted. It has to find another node then, unless a DaemonSet runs it.
    MOVES = "moves"
    #: It is not evicted: its node is not deleted before it has ended, but may be unneeded until then.
    WAITS = "waits"


@dataclass(frozen=True, kw_only=True)
class DrainSettings:
    """What ``scaleDown`` says about pods that keep their nodes; each has its flag in Cluster Autoscaler."""

    skip_system_pods: bool = True
    system_pods_block_for: timedelta = timedelta(hours=1)
    skip_local_storage: bool = True
    skip_custom_controller_pods: bool = True
    min_replicas: int = 0


@dataclass(frozen=True, kw_only=True)
class ControllerFacts:
    """What is known of a pod's controller."""

    exists: bool
    #: How many pods it wants; None if it does not say so, or does not exist.
    replicas: int | None = None


@dataclass(frozen=True, kw_only=True)
class DrainContext:
    """What a drain rule may know besides the pod."""

    now: datetime
    settings: DrainSettings = DrainSettings()
    #: None if the pod has none, or one of a kind that is not watched or that we are not allowed to see.
    controller: ControllerFacts | None = None
    #: Disruption budgets that cover the pod.
    budgets: Sequence[str] = ()
    #: Those of them that allow no disruption any more: now, or after the nodes that this loop has found removable.
    #: Empty while the node is drained already: the API server holds its pods back then, and the drain waits.
    spent_budgets: Sequence[str] = ()


class DrainRule(Plugin):
    """A step of ``scaleDown.drainRules``: says what draining a node means for one of its pods.

    Called for pods of nodes that might be removed, and of those that are being drained, on the loop's thread. Of the
    rules in YAML the first that has an opinion decides; a pod about which none has one may be evicted. Must be pure.
    An exception, or an answer of another type, keeps the node, and the verdict names the rule. So does a rule that
    could not be loaded.
    """

    #: Whether pods of one controller that have the same labels, annotations and specification always have one answer
    #: in one loop: `judge` does not look at the time, nor at a pod's name, uid, times, status or labels that number it.
    #: Then it is asked once about all of them. To ask about each pod takes time in large clusters.
    alike: ClassVar[bool] = False

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Tell whether it has to be asked about each pod that is like *pod*; for rules to which that is so for some."""
        return not self.alike

    @abstractmethod
    def judge(self, pod: Pod, context: DrainContext) -> PodFate | str | None:
        """Return what becomes of *pod*; if it keeps its node, why, as a word or few; None: no opinion.

        Why should be the same for all pods with the same trouble, as it becomes part of metrics. The pod is one that
        runs, with its name, owner and times; of annotations it has those that Nodewright reads (``nodewright.dev/`` and
        Cluster Autoscaler's), of its containers what they take.
        """
