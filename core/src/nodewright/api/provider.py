"""Providers: the contract of a cloud."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from nodewright.api.clock import Clock
from nodewright.api.group import NodeGroup
from nodewright.api.plugin import Plugin, PluginConfig
from nodewright.api.pricing import PricingModel
from nodewright.objects import Node, Resources


class Capability(StrEnum):
    """What a provider can do beyond the minimum; what it does not declare is never called."""

    SCALE_FROM_ZERO = "scale-from-zero"
    ATOMIC_INCREASE = "atomic-increase"
    FORCE_DELETE = "force-delete"
    PRICES = "prices"


@dataclass(frozen=True, kw_only=True)
class GroupSpec:
    """A group named by hand: ``min:max:name``."""

    name: str
    min_size: int
    max_size: int


@dataclass(frozen=True, kw_only=True)
class ProviderContext:
    """What the core hands to a provider besides its own configuration."""

    clock: Clock
    cluster: str = ""
    namespace: str = "kube-system"
    user_agent: str = "nodewright"
    #: Groups and discovery rules given by CA's flags ``--nodes`` and ``--node-group-auto-discovery``.
    nodes: tuple[GroupSpec, ...] = ()
    discovery: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class GpuConfig:
    """How a node's GPUs are named."""

    label: str
    type: str
    resource: str
    dra_driver: str = ""


@dataclass(frozen=True, kw_only=True)
class ResourceLimits:
    """Smallest and largest total of a resource over all nodes of a provider, by resource name or GPU type."""

    minimum: Resources = field(default_factory=dict)
    maximum: Resources = field(default_factory=dict)


class Provider(Plugin):
    """A cloud, or one account and region of it.

    The core keeps one provider per entry in YAML. `refresh` is called once at the start of every loop, on a thread of
    this provider's own, with a deadline; it is the only place where a provider may ask its cloud for facts. All other
    facts are answered from what it read, at once. When `refresh` raises (or passes its deadline), the groups of this
    provider are frozen in their last known state for this loop: neither grown nor shrunk. Other providers go on.
    """

    #: Optional abilities; an instance may narrow them down in ``__init__``.
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    #: Node label that tells the GPU type, if this cloud has GPUs.
    gpu_label: ClassVar[str] = ""
    #: Labels that differ between otherwise similar groups of this cloud, beyond the usual zone labels.
    balancing_ignored_labels: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, config: PluginConfig, context: ProviderContext) -> None:
        super().__init__(config)
        self.context = context

    @abstractmethod
    def refresh(self) -> None:
        """Read the cloud. May block up to the refresh deadline and may raise any error; see the class."""

    @abstractmethod
    def groups(self) -> Sequence[NodeGroup]:
        """All groups as of the last refresh, in a stable order."""

    @abstractmethod
    def group_of(self, node: Node) -> str | None:
        """Id of the group that *node* belongs to, None if it is not ours. Called once per new or changed node."""

    def pricing(self) -> PricingModel | None:
        """Prices, if this provider has them. Needs `Capability.PRICES`."""
        return None

    def resource_limits(self) -> ResourceLimits:
        """Limits that the provider itself sets on the total of its nodes."""
        return ResourceLimits()

    def gpu_config(self, labels: Mapping[str, str]) -> GpuConfig | None:
        """How the GPUs of a node with *labels* are named; None if it has none."""
        return None
