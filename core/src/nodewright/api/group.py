"""Node groups: the contract of what a cloud can grow and shrink."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from nodewright.api.instance import Instance
from nodewright.api.template import NodeTemplate
from nodewright.objects import Node


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Settings that may differ from group to group; defaults are Cluster Autoscaler's."""

    scale_down_utilization_threshold: float = 0.5
    scale_down_gpu_utilization_threshold: float = 0.5
    scale_down_unneeded_time: timedelta = timedelta(minutes=10)
    scale_down_unready_time: timedelta = timedelta(minutes=20)
    max_node_provision_time: timedelta = timedelta(minutes=15)
    max_node_startup_time: timedelta = timedelta(minutes=15)
    ignore_daemonsets_utilization: bool = False
    #: The group is used whole or not at all (it grows to its maximum and shrinks to zero in one step).
    zero_or_max_node_scaling: bool = False
    #: With `zero_or_max_node_scaling`: growth to the maximum may be an ordinary, non-atomic one, and where a part of
    #: the machines fails, the others stay.
    allow_non_atomic_scale_up_to_max: bool = False

    @property
    def in_one_piece(self) -> bool:
        """Whether machines of the group come all together or not at all."""
        return self.zero_or_max_node_scaling and not self.allow_non_atomic_scale_up_to_max


class NodeGroup(ABC):
    """A set of like machines that the cloud can grow and shrink.

    Two kinds of methods. *Facts* (`min_size` to `options`) are read once per loop, right after `Provider.refresh`, on
    the provider's own thread; they answer from what refresh has read and must not block. *Actions* (`increase` and
    below) are called when a decision is carried out, on a worker thread, at most one at a time for one group but for
    several groups at once; they may block up to the action's deadline and should return as soon as the cloud has
    accepted the change, not when machines are there.

    Any fact that raises takes this group out of the loop's decisions until it answers again; other groups go on.
    An action that raises `TemporaryError` is decided anew in the next loop; `CapacityError` or `PermanentError` backs
    the group off; any other exception counts as a fault of the plugin and backs the group off too.
    """

    @property
    @abstractmethod
    def id(self) -> str:
        """The group's name: unique within the provider, stable over restarts, written in events and metrics."""

    @property
    @abstractmethod
    def min_size(self) -> int:
        """Fewest machines; scale-down never goes below."""

    @property
    @abstractmethod
    def max_size(self) -> int:
        """Most machines; scale-up never goes above."""

    @property
    @abstractmethod
    def target_size(self) -> int:
        """Machines that the cloud is asked for now; may differ from those that exist while it works on it."""

    @abstractmethod
    def instances(self) -> Sequence[Instance]:
        """Every machine of the group, also those not registered as nodes, being made, failed or being deleted."""

    def template(self) -> NodeTemplate | None:
        """A new node of this group, empty. None (the default) if the cloud can't tell: no scale-up from zero then.

        Needs `Capability.SCALE_FROM_ZERO`.
        """
        return None

    def pools(self) -> Sequence[str]:
        """The capacity pools that new machines are taken from, named as in `InstanceError.pool`.

        When all of them are dry, whichever group found out, this group is left alone for a while. Nothing (the
        default) stands for the one pool ``zone/instance type`` of the template, and those of machines that are there.
        """
        return ()

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """The group's own settings, laid over *defaults* with `dataclasses.replace` (tags and annotations, usually)."""
        return defaults

    @abstractmethod
    def increase(self, count: int) -> None:
        """Ask for *count* (> 0) more machines.

        Called after the decision to grow. Must be all or nothing as a request: on an exception the target is
        unchanged. Raises `SizeLimitError` if the target would pass `max_size`, or not grow; `CapacityError` if the
        cloud already knows that it can't deliver.
        """

    def increase_atomically(self, count: int) -> None:
        """Ask for *count* more machines that come all together or not at all. Needs `Capability.ATOMIC_INCREASE`.

        Called instead of `increase` for groups that are used whole and for all-or-nothing scale-ups.
        """
        raise NotImplementedError

    @abstractmethod
    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete the machines of *nodes* and lower the target by as many, so that none is replaced.

        Called when nodes are drained, or never registered (such a node has only name and provider ID). Raises
        `ForeignNodeError` if one belongs elsewhere and `SizeLimitError` if the target would fall below `min_size`, in
        both cases before anything is deleted. Deleting a machine that is gone already or on its way out is no error.
        """

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """As `delete_nodes`, whatever `min_size` and the machine's state. Needs `Capability.FORCE_DELETE`."""
        raise NotImplementedError

    @abstractmethod
    def decrease_target(self, count: int) -> None:
        """Lower the target by *count* (> 0) without deleting any machine that exists: gives up unmet demand.

        Called when ordered machines did not come in time. Raises `SizeLimitError` if that would need a deletion, or
        lower nothing.
        """


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """What a provider said about one group in this loop: all that decisions know of a group."""

    id: str
    provider: str
    min_size: int
    max_size: int
    target_size: int
    instances: tuple[Instance, ...] = ()
    #: None if neither the provider nor a node of the group can tell what a new node looks like.
    template: NodeTemplate | None = None
    options: GroupOptions = field(default_factory=GroupOptions)
    #: Capacity pools that new machines are taken from, if the provider tells; see `NodeGroup.pools`.
    pools: tuple[str, ...] = ()
    #: Whether `NodeGroup.increase_atomically` may be called.
    atomic: bool = False
    #: Whether `NodeGroup.force_delete_nodes` may be called.
    force_delete: bool = False
    #: Price of one node for an hour, where the provider has prices.
    hourly_price: float | None = None
    #: What could not be read of the group in this loop; the group is left alone while this is set.
    error: str = ""
