"""What is: the world as one loop sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property

from nodewright.api.decision import Outcome
from nodewright.api.group import GroupFacts
from nodewright.api.instance import InstanceState
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.cluster import Cluster


@dataclass(frozen=True, kw_only=True)
class World:
    """All that a decision may look at. Read-only for those who decide."""

    cluster: Cluster
    #: Every group, in the order of providers in YAML and of groups in their provider.
    groups: tuple[GroupFacts, ...] = ()
    #: Group id by node name; a node that no provider knows is not in it.
    group_of: Mapping[str, str] = field(default_factory=dict)
    #: What GPUs each node has that has some, by node name.
    gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: What GPUs a new node of a group has, by the id of each group whose nodes have some.
    group_gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: Limits that providers set themselves, by provider.
    resource_limits: Mapping[str, ResourceLimits] = field(default_factory=dict)
    #: Labels that may differ between groups that are alike, by provider.
    balancing_ignored_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: How the actions of the decisions since the last one went.
    outcomes: tuple[Outcome, ...] = ()
    #: Prices by provider, where it has them.
    pricing: Mapping[str, PricingModel] = field(default_factory=dict)
    #: Data of the ConfigMaps that strategies ask for, by name.
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: How long it took at most in the past hour until the mark of a node was seen; None if none was marked.
    taint_latency: timedelta | None = None

    @cached_property
    def deleting(self) -> frozenset[str]:
        """Provider IDs of the machines that the cloud deletes, whoever ordered that."""
        return frozenset(
            instance.id
            for facts in self.groups
            for instance in facts.instances
            if instance.state is InstanceState.DELETING
        )
