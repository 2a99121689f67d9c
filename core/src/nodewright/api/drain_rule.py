"""Drain rules: what draining a node means for a pod that runs there."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import ClassVar

from nodewright.api.plugin import Plugin
from nodewright.objects import Pod
from nodewright.objects.frozen import freeze_fields


class PodFate(Enum):
    """What becomes of a pod when its node is drained."""

    #: It goes down with its node, or is gone already.
    STAYS = "stays"
    #: It may be evicted. Unless a DaemonSet runs it, it has to find another node then.
    MOVES = "moves"
    #: It is not evicted. Its node may be unneeded, but is not deleted before the pod has ended.
    WAITS = "waits"


@dataclass(frozen=True, kw_only=True)
class DrainSettings:
    """What ``scaleDown`` says about pods that keep their nodes. Cluster Autoscaler has a flag for each."""

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
    #: None if the pod has no controller, or one of a kind that is not watched or that we may not read.
    controller: ControllerFacts | None = None
    #: Disruption budgets that cover the pod.
    budgets: Sequence[str] = ()
    #: Those of them that allow no further disruption: now, or after the nodes that this loop has found removable.
    #: Empty once the node is being drained: the API server then refuses evictions, and the drain waits.
    spent_budgets: Sequence[str] = ()

    def __post_init__(self) -> None:
        freeze_fields(self, "budgets", "spent_budgets")


class DrainRule(Plugin):
    """A step of ``scaleDown.drainRules``: says what draining a node means for one of its pods.

    Called on the loop's thread for pods of nodes that might be removed or are being drained. The first rule in YAML
    that has an opinion decides; if none has one, the pod may be evicted. Must be pure: same input, same answer; no I/O,
    no clock but `DrainContext.now`. An exception, or an answer of another type, keeps the node, and the verdict names
    the rule. So does a rule that could not be loaded.
    """

    #: Whether pods of one controller with the same labels, annotations and specification always get one answer in one
    #: loop. That is so if `judge` looks neither at the time nor at a pod's name, uid, times, status or the labels that
    #: number it. The rule is then asked once about all of them, which saves time in large clusters.
    alike: ClassVar[bool] = False

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Tell whether it has to be asked about each single pod like *pod*. For rules that are `alike` in part."""
        return not self.alike

    @abstractmethod
    def judge(self, pod: Pod, context: DrainContext) -> PodFate | str | None:
        """Return what becomes of *pod*; if it keeps its node, the reason in a word or a few; None: no opinion.

        The reason should be the same for all pods with the same problem, as it becomes part of metrics. The pod runs,
        and has its name, owner and times. It has only those annotations that Nodewright reads (``nodewright.dev/`` and
        Cluster Autoscaler's) or that plugins declare in `Plugin.pod_annotations`, and of its containers only what they
        request.
        """
