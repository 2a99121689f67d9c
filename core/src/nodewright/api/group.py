"""Node groups: what a cloud can grow and shrink."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from nodewright.api.instance import Instance, InstanceError
from nodewright.api.template import NodeTemplate
from nodewright.objects import Node
from nodewright.objects.frozen import freeze_fields


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """Settings that may differ from group to group. The defaults are Cluster Autoscaler's."""

    scale_down_utilization_threshold: float = 0.5
    scale_down_gpu_utilization_threshold: float = 0.5
    scale_down_unneeded_time: timedelta = timedelta(minutes=10)
    scale_down_unready_time: timedelta = timedelta(minutes=20)
    max_node_provision_time: timedelta = timedelta(minutes=15)
    max_node_startup_time: timedelta = timedelta(minutes=15)
    ignore_daemonsets_utilization: bool = False
    #: Use the group whole or not at all: it grows to its maximum, and shrinks to zero, in one step.
    zero_or_max_node_scaling: bool = False
    #: With `zero_or_max_node_scaling`: growth to the maximum need not be atomic: if some machines fail, the rest stay.
    allow_non_atomic_scale_up_to_max: bool = False

    @property
    def in_one_piece(self) -> bool:
        """Whether the machines of the group must come all together or not at all."""
        return self.zero_or_max_node_scaling and not self.allow_non_atomic_scale_up_to_max


@dataclass(frozen=True, kw_only=True)
class Pause:
    """Why a group is not Nodewright's to change at the moment: somebody else steers it, or it is paused."""

    #: In words that follow "the group is left alone:", and with what to do about it.
    why: str
    #: Whether its machines may be removed all the same: only growth is paused.
    shrinks: bool = False


class NodeGroup(ABC):
    """A set of equal machines that the cloud can grow and shrink.

    *Facts* (`id` to `options`) are read once per loop, right after `Provider.refresh`, on the provider's own thread.
    They answer from what `refresh` has read and must not block. If a fact raises, or is not of its type all the way
    down, the core leaves this group alone in this loop. Other groups go on.

    *Actions* (`increase` to `decrease_target`) are called when a decision is carried out, on a worker thread: one at a
    time for one group, but for several groups at once. An action should return as soon as the cloud has accepted the
    change, not when the machines are there. After ``loop.actionTimeout`` the core stops waiting, but calls no other
    action of this group before the first has returned.

    Errors of actions: if growth fails with a `TemporaryError`, the next loop decides anew; if it fails with any other
    exception, the group is backed off. If a deletion fails, the removal of its nodes ends, unless the machines turn out
    to be going all the same. An exception that is no `NodewrightError` also counts as a fault of the plugin.
    """

    @property
    @abstractmethod
    def id(self) -> str:
        """The group's name. Unique over all providers, the same after a restart, and shown in events and metrics."""

    @property
    @abstractmethod
    def min_size(self) -> int:
        """Fewest machines: scale-down never goes below."""

    @property
    @abstractmethod
    def max_size(self) -> int:
        """Most machines: scale-up never goes above."""

    @property
    @abstractmethod
    def target_size(self) -> int:
        """How many machines the cloud is asked for. May differ from how many exist while the cloud is still working."""

    @abstractmethod
    def instances(self) -> Sequence[Instance]:
        """Every machine of the group, including those that are being made, have failed, or are being deleted.

        A machine that is not listed is gone, or is being deleted: these may be left out. Whether it has registered as a
        node does not matter.
        """

    def template(self) -> NodeTemplate | None:
        """Return what a new node of this group looks like, without pods; None if it is not known.

        Without a template, a group that has no ready node can't grow. Needs `Capability.SCALE_FROM_ZERO`.
        """
        return None

    def pools(self) -> Sequence[str]:
        """Return the capacity pools that new machines are taken from, named as in `InstanceError.pool`.

        When a stock-out in any group shows that all of these pools are empty, this group is backed off as well. By
        default, the pools are those of the template and of the existing machines: ``zone/instance type``.
        """
        return ()

    def quotas(self) -> Mapping[str, int]:
        """Return what each new machine takes of quotas that several groups share, by the name of the quota.

        When an error of class Quota in any group names one of these (`InstanceError.pool`), this group is backed off as
        well if its machines take at least as much of it. Groups with smaller machines still try.
        """
        return {}

    def available(self) -> int | None:
        """Return how many more machines the cloud could deliver now; None if it does not tell.

        Scale-up orders no more than that. Quotas and reservations tell it, `max_size` does not count.
        """
        return None

    def errors(self) -> Sequence[InstanceError]:
        """Return why machines that were ordered do not come, where no machine in `instances` shows it.

        The group is backed off once for each class, code and pool, and again only after the error was gone in between:
        leave out what is older than the last order. What has not come of an open order that is older than the error is
        given up at once by `decrease_target`.
        """
        return ()

    def pause(self) -> Pause | None:
        """Return why the core must leave this group alone; None if it is free to grow and shrink.

        A paused group keeps its facts and its nodes count, but nothing is ordered, given up, or deleted. With
        `Pause.shrinks`, only growth is paused.
        """
        return None

    @property
    def atomic(self) -> bool:
        """Whether `increase_atomically` works for this group; asked only with `Capability.ATOMIC_INCREASE`."""
        return True

    def options(self, defaults: GroupOptions) -> GroupOptions:
        """Return *defaults* with the group's own settings in place, by `dataclasses.replace`.

        These usually come from tags or annotations. Keep no defaults from an earlier call: configuration may change.
        """
        return defaults

    @abstractmethod
    def increase(self, count: int) -> None:
        """Ask for *count* (> 0) more machines.

        The request is taken whole or not at all: after an exception the target must be unchanged. Only where the cloud
        can't be asked to take back what it has begun, as it throttles or does not answer, this is left over: raise
        `PartialIncreaseError` if it is known how much that is. Raises
        `SizeLimitError` if the target would pass `max_size` or not grow, and `CapacityError` if the cloud knows at once
        that it can't deliver.
        """

    def increase_atomically(self, count: int) -> None:
        """Ask for *count* more machines that come all together or not at all. Needs `Capability.ATOMIC_INCREASE`.

        Called instead of `increase` for all-or-nothing scale-ups and for groups that are used whole
        (`GroupOptions.in_one_piece`). Without the capability, the core calls `increase` for these as well.
        """
        raise NotImplementedError

    @abstractmethod
    def delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete the machines of *nodes* and lower the target by as many, so that the cloud replaces none of them.

        Called for nodes that are drained, and for machines that never registered: their nodes have only a name and a
        provider ID. Raises `ForeignNodeError` if a machine belongs elsewhere, and `SizeLimitError` if the target would
        fall below `min_size`; in both cases before anything is deleted. A machine that is gone, or is being deleted
        already, is no error and does not lower the target again.
        """

    def force_delete_nodes(self, nodes: Sequence[Node]) -> None:
        """Delete as `delete_nodes` does, whatever `min_size` and the machine's state. Needs `Capability.FORCE_DELETE`.

        Called for machines that never became nodes. If this group can't, raise `UnsupportedError`: the core calls
        `delete_nodes` then.
        """
        raise NotImplementedError

    @abstractmethod
    def decrease_target(self, count: int) -> None:
        """Lower the target by *count* (> 0) without deleting a machine: give up machines that have not come.

        Called when machines that were ordered did not come in time. Raises `SizeLimitError` if fewer than *count*
        machines are missing, or if the target would not fall.
        """


@dataclass(frozen=True, kw_only=True)
class GroupFacts:
    """What a provider said about one group in this loop. Decisions know nothing else of a group."""

    id: str
    provider: str
    min_size: int
    max_size: int
    target_size: int
    instances: tuple[Instance, ...] = ()
    #: None if neither the provider nor a node of the group shows what a new node looks like.
    template: NodeTemplate | None = None
    options: GroupOptions = field(default_factory=GroupOptions)
    #: Capacity pools that new machines are taken from, if the provider names them; see `NodeGroup.pools`.
    pools: tuple[str, ...] = ()
    #: What each new machine takes of shared quotas, by the quota's name; see `NodeGroup.quotas`.
    quotas: Mapping[str, int] = field(default_factory=dict)
    #: How many more machines the cloud could deliver now; None if it does not tell.
    available: int | None = None
    #: Why machines do not come, where no machine shows it; see `NodeGroup.errors`.
    errors: tuple[InstanceError, ...] = ()
    #: Why the group is not Nodewright's to change; None if it is.
    pause: Pause | None = None
    #: Whether `NodeGroup.increase_atomically` may be called.
    atomic: bool = False
    #: Whether `NodeGroup.force_delete_nodes` may be called.
    force_delete: bool = False
    #: Price of one node for an hour; None if it is unknown.
    hourly_price: float | None = None
    #: Why the group could not be read in this loop; decisions leave the group alone while this is set.
    error: str = ""

    def __post_init__(self) -> None:
        freeze_fields(self, "quotas")

    @property
    def room(self) -> int:
        """How many more machines scale-up may order: up to `max_size`, and no more than are `available`."""
        most = self.max_size - self.target_size
        return most if self.available is None else min(most, self.available)

    def grown(self, count: int) -> "GroupFacts":
        """Return the facts of the group after an order of *count* machines, or after so many were taken back."""
        available = None if self.available is None else self.available - count
        return replace(self, target_size=self.target_size + count, available=available)
