"""Provider: what a cloud plugin implements."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import ClassVar

from nodewright.api.clock import Clock
from nodewright.api.group import NodeGroup
from nodewright.api.plugin import Plugin, PluginConfig
from nodewright.api.pricing import PricingModel
from nodewright.objects import Node, Resources
from nodewright.objects.frozen import freeze_fields


class Capability(StrEnum):
    """What a provider can do beyond the minimum. The core never calls a method whose capability is not declared."""

    #: `NodeGroup.template`
    SCALE_FROM_ZERO = "scale-from-zero"
    #: `NodeGroup.increase_atomically`
    ATOMIC_INCREASE = "atomic-increase"
    #: `NodeGroup.force_delete_nodes`
    FORCE_DELETE = "force-delete"
    #: `Provider.pricing`
    PRICES = "prices"


@dataclass(frozen=True, kw_only=True)
class GroupSpec:
    """A group that the user named: ``min:max:name``."""

    name: str
    min_size: int
    max_size: int


@dataclass(frozen=True, kw_only=True)
class ProviderContext:
    """What the core gives to a provider besides the provider's own configuration."""

    clock: Clock
    #: What requests to the cloud should call themselves.
    user_agent: str = "nodewright"
    #: How long the core waits for a `Provider.refresh` (``loop.refreshTimeout``).
    refresh_timeout: timedelta = timedelta(seconds=60)
    #: How long the core waits for an action of a group (``loop.actionTimeout``). Give each request less than that.
    action_timeout: timedelta = timedelta(seconds=60)
    #: Groups and discovery rules from Cluster Autoscaler's flags ``--nodes`` and ``--node-group-auto-discovery``.
    nodes: tuple[GroupSpec, ...] = ()
    discovery: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GpuConfig:
    """How the GPUs of a node are named."""

    #: The node label that holds the GPU type.
    label: str
    #: The value of that label.
    type: str
    #: The extended resource that pods request, such as ``nvidia.com/gpu``.
    resource: str
    #: The DRA driver, if pods claim the GPUs from one instead of requesting the resource.
    dra_driver: str = ""


@dataclass(frozen=True, kw_only=True)
class ResourceLimits:
    """Smallest and largest total over all nodes of a provider, by resource name or GPU type."""

    minimum: Resources = field(default_factory=dict)
    maximum: Resources = field(default_factory=dict)

    def __post_init__(self) -> None:
        freeze_fields(self, "minimum", "maximum")


class Provider(Plugin):
    """A cloud, or one account and region of it.

    There is one instance for each entry under ``providers`` in YAML. `refresh` is the only method that may call the
    cloud to read it. All other methods answer at once from what the last successful `refresh` read.

    Threads: in each loop, the core calls `refresh`, `pricing`, `resource_limits` and `groups` in this order, and then
    the facts of each group, on one thread of this provider's own. It calls `group_of` and `gpu_config` on the loop's
    thread, and it does so even while a `refresh` that missed its deadline is still running. Actions of groups run on
    worker threads.

    Errors: if `refresh`, `pricing`, `resource_limits` or `groups` raises or answers with what is not of its type, or
    the deadline (``loop.refreshTimeout``) passes, the groups of this provider keep their last known facts for this
    loop, and the core neither grows nor shrinks them. Other providers go on. An exception that is no `NodewrightError`
    also counts as a fault of the plugin.
    """

    #: Optional abilities; an instance may narrow them down in ``__init__``.
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    #: The node label that holds the GPU type; empty if this cloud has no GPUs. `gpu_config` is not called then.
    gpu_label: ClassVar[str] = ""
    #: Labels that may differ between similar groups of this cloud, besides the usual zone labels.
    balancing_ignored_labels: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, config: PluginConfig, context: ProviderContext) -> None:
        super().__init__(config)
        self.context = context

    @abstractmethod
    def refresh(self) -> None:
        """Read the cloud. Called once at the start of each loop. May block until the deadline and may raise: see above.

        When it raises, all facts must stay as they were. After a `ThrottledError`, it is not called again before the
        time that the error names. If a call outlasts its deadline, the core lets it finish and does not call `refresh`
        again before it has.
        """

    @abstractmethod
    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, in the same order each time: ties between groups go by it."""

    @abstractmethod
    def group_of(self, node: Node) -> str | None:
        """Return the id of the group that *node* belongs to; None if the node is not in one of our groups.

        Called once for each node, and again in each loop while the answer is None. An exception, and the name of a
        group that is not one of ours, count as None.
        """

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  the word of the objects that name groups
        """Return the id of the group that an object names in the cloud's own words; None if it is none of ours.

        *kind* is the provider's word for what *id* is, such as ``AWSAutoScalingGroup`` with the group's ARN. Called on
        the loop's thread. An exception counts as None.
        """
        return None

    def pricing(self) -> PricingModel | None:
        """Return the prices as of the last refresh; None while there are none. Needs `Capability.PRICES`."""
        return None

    def resource_limits(self) -> ResourceLimits:
        """Return the limits that the cloud sets on the total of all its nodes; none by default."""
        return ResourceLimits()

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """Return how the GPUs of a node with *labels* are named; None if it has none.

        Called in each loop, for nodes and templates that have the label `gpu_label`. An exception counts as None.
        """
        return None
