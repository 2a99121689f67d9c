"""The world as one loop sees it."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

from nodewright.api.decision import DeleteInstances, Outcome, Shrink
from nodewright.api.group import GroupFacts
from nodewright.api.instance import Instance, InstanceState
from nodewright.api.pricing import PricingModel
from nodewright.api.provider import GpuConfig, ResourceLimits
from nodewright.cluster import Cluster
from nodewright.objects import Node


class Members:
    """The nodes of each group, in the order of the API server. They are looked up once for a decision."""

    def __init__(self) -> None:
        self._by_group: dict[str, list[Node]] | None = None

    def of(self, group: str, nodes: Mapping[str, Node], group_of: Mapping[str, str]) -> Sequence[Node]:
        """Return those of *nodes* that belong to *group*, given the group of each node by name."""
        if self._by_group is None:
            self._by_group = {}
            for name, node in nodes.items():
                home = group_of.get(name)
                if home is not None:
                    self._by_group.setdefault(home, []).append(node)
        return self._by_group.get(group, ())


def deleting(instances: Iterable[Instance], gone: Set[str]) -> tuple[Instance, ...]:
    """Return *instances*, of which those with the ids *gone* are being deleted."""
    return tuple(
        replace(each, state=InstanceState.DELETING, error=None) if each.id in gone else each for each in instances
    )


@dataclass(kw_only=True)
class _Told:
    """What is told of single machines, by provider ID."""

    deleting: set[str] = field(default_factory=set)
    stopped: set[str] = field(default_factory=set)
    incarnations: dict[str, str] = field(default_factory=dict)
    ends: dict[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class World:
    """All that a decision may look at. Read-only for stages."""

    cluster: Cluster
    #: Every group, in the order of providers in YAML and of groups in their provider.
    groups: tuple[GroupFacts, ...] = ()
    #: Group id by node name. A node that no provider knows is missing.
    group_of: Mapping[str, str] = field(default_factory=dict)
    #: The GPUs of each node that has some, by node name.
    gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: The GPUs of a new node, by the id of each group whose nodes have some.
    group_gpus: Mapping[str, GpuConfig] = field(default_factory=dict)
    #: The limits that providers set themselves, by provider.
    resource_limits: Mapping[str, ResourceLimits] = field(default_factory=dict)
    #: Labels that may differ between similar groups, by provider.
    balancing_ignored_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Why a provider can't be read, by the name of each: it may have groups and nodes that nobody knows of.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: The outcomes of the actions since the last decision.
    outcomes: tuple[Outcome, ...] = ()
    #: Prices, by each provider that has them.
    pricing: Mapping[str, PricingModel] = field(default_factory=dict)
    #: Data of the ConfigMaps that strategies ask for, by name.
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The longest time in the past hour until the mark of a node was seen; None if none was marked.
    taint_latency: timedelta | None = None
    #: The nodes of each group. All variants of the world in one decision share it, as nodes stay the same.
    members: Members = field(default_factory=Members, repr=False, compare=False)

    def group(self, name: str) -> GroupFacts | None:
        """Return the group with the id *name*; None if there is none."""
        return self._groups.get(name)

    def group_on(self, node: str) -> GroupFacts | None:
        """Return the group of the node called *node*; None if it belongs to no known group."""
        return self._groups.get(self.group_of.get(node, ""))

    def nodes_of(self, group: str) -> Sequence[Node]:
        """Return the nodes of the group with the id *group*."""
        return self.members.of(group, self.cluster.nodes, self.group_of)

    def without(self, delete: Iterable[DeleteInstances], shrink: Iterable[Shrink] = ()) -> "World":
        """Return the world as it is while these machines are deleted, and after those are given up."""
        leaving = Counter({each.group: each.count for each in shrink})
        deleted = set[str]()
        for each in delete:
            leaving[each.group] += len(each.instances)
            deleted.update(each.instances)
        if not leaving:
            return self
        return replace(
            self,
            groups=tuple(
                replace(
                    facts,
                    target_size=facts.target_size - leaving[facts.id],
                    instances=deleting(facts.instances, deleted),
                )
                if facts.id in leaving
                else facts
                for facts in self.groups
            ),
        )

    def ending(self, now: datetime) -> dict[str, datetime]:
        """Return when the machines of nodes end that end sooner than new nodes would be there, by the nodes' names."""
        if not self._told.ends:
            return {}
        ending = {}
        for name, node in self.cluster.nodes.items():
            end, facts = self._told.ends.get(node.spec.provider_id), self.group_on(name)
            if end is not None and facts is not None and end - now <= facts.options.max_node_provision_time:
                ending[name] = end
        return ending

    def is_another(self, machine: str, incarnation: str) -> bool:
        """Tell whether the provider ID *machine* is that of another machine than the one of *incarnation* by now."""
        return bool(incarnation) and self.incarnations.get(machine, incarnation) != incarnation

    @cached_property
    def stopped_nodes(self) -> frozenset[str]:
        """Names of the nodes whose machines are stopped."""
        if not self.stopped:
            return frozenset()
        return frozenset(name for name, node in self.cluster.nodes.items() if node.spec.provider_id in self.stopped)

    @property
    def deleting(self) -> Set[str]:
        """Provider IDs of the machines that the cloud is deleting, on anyone's order."""
        return self._told.deleting

    @property
    def stopped(self) -> Set[str]:
        """Provider IDs of the machines that are stopped."""
        return self._told.stopped

    @property
    def incarnations(self) -> Mapping[str, str]:
        """The incarnations of machines that have one, by provider ID."""
        return self._told.incarnations

    @cached_property
    def _groups(self) -> Mapping[str, GroupFacts]:
        return {facts.id: facts for facts in self.groups}

    @cached_property
    def _told(self) -> _Told:
        told = _Told()
        # One pass: there may be very many machines, of which most have none of this.
        for facts in self.groups:
            for each in facts.instances:
                if each.state is InstanceState.DELETING:
                    told.deleting.add(each.id)
                elif each.state is InstanceState.STOPPED:
                    told.stopped.add(each.id)
                if each.incarnation:
                    told.incarnations[each.id] = each.incarnation
                if each.ends_at is not None:
                    told.ends[each.id] = each.ends_at
        return told
