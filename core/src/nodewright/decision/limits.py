"""Limits: how large the cluster or a part of it may get."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nodewright.api.group import GroupFacts
from nodewright.api.provider import GpuConfig
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Limits as LimitSettings
from nodewright.decision.health import Assessment
from nodewright.decision.world import World
from nodewright.objects import CapacityQuota, Resources

#: A resource of which each node counts for one.
NODES = "nodes"
_CORE = 1000
#: A node that represents another cluster has no size of its own.
_VIRTUAL = ("type", "virtual-kubelet")
_SHORT = re.compile(r'", resources: ([^;]*)')


def amounts(capacity: Resources, gpu: GpuConfig | None) -> Resources:
    """Return what a node of *capacity* counts for: whole cores, and its GPUs by their type."""
    counted = {**capacity, "cpu": -(-capacity.get("cpu", 0) // _CORE) * _CORE}
    if gpu is not None:
        counted[gpu.type] = capacity.get(gpu.resource, 0)
    return counted


def is_real(labels: Mapping[str, str]) -> bool:
    """Tell whether a node with *labels* counts at all."""
    key, value = _VIRTUAL
    return labels.get(key) != value


@dataclass(frozen=True, kw_only=True)
class _Share:
    """What a node counts for in limits."""

    provider: str
    labels: Mapping[str, str]
    amounts: Resources


@dataclass(kw_only=True)
class _Quota:
    """The most that certain nodes may have of some resources together, and what is left of it."""

    name: str
    covers: Callable[[_Share], bool]
    left: dict[str, int] = field(default_factory=dict)
    #: Whether it covers nodes by their labels.
    by_label: bool = False

    def take(self, share: _Share, count: int) -> None:
        """Count *count* more nodes."""
        for resource in self.left:
            self.left[resource] -= count * share.amounts.get(resource, 0)

    def allowed(self, share: _Share, count: int) -> int:
        """Return how many of *count* more nodes there may be."""
        demands = ((max(0, left), share.amounts.get(name, 0)) for name, left in self.left.items())
        return min([count, *(left // amount for left, amount in demands if amount)])

    def short(self, share: _Share, count: int) -> list[str]:
        """Return the resources of which too little is left for *count* more nodes."""
        return [name for name, left in self.left.items() if count * share.amounts.get(name, 0) > max(0, left)]


class Limits:
    """How many nodes may still be added, over all groups and rounds of one scale-up."""

    def __init__(self, world: World, health: Assessment, settings: LimitSettings) -> None:
        self._world = world
        absent = health.starting | world.stopped_nodes
        present = [name for name in world.cluster.nodes if name not in absent]
        there = Counter(world.group_of.get(name) for name in present)
        # A group that is not waited for may still fill its order.
        coming = {
            group.facts.id: (group.facts, number)
            for group in health.groups
            if (number := max(group.upcoming, group.facts.target_size - there[group.facts.id])) > 0
        }
        total = len(present) + sum(number for _, number in coming.values())
        #: How many nodes the cluster may gain; None if there is no limit.
        self.room = max(0, settings.nodes.max - total) if settings.nodes.max else None
        self._quotas = _quotas(world, settings)
        self._shares: dict[str, _Share] = {}
        providers = {group.facts.id: group.facts.provider for group in health.groups}
        # Nodes that are equal in all that quotas look at are counted together.
        equal: dict[tuple[object, ...], list[str]] = {}
        selecting = any(quota.by_label for quota in self._quotas)
        for name in present:
            node = world.cluster.nodes[name]
            provider = providers.get(world.group_of.get(name, ""), "")
            shown = tuple(node.metadata.labels.items()) if selecting else node.metadata.labels.get(_VIRTUAL[0])
            equal.setdefault((provider, node.size, world.gpus.get(name), shown), []).append(name)
        for names in equal.values():
            provider = providers.get(world.group_of.get(names[0], ""), "")
            self._count(self._node(names[0], provider), len(names))
        for facts, number in coming.values():
            if facts.template is not None:
                self._count(self._share(facts), number)

    def objection(self, facts: GroupFacts, count: int) -> Verdict | None:
        """Return what forbids *count* more nodes of a group, which must have a template; None if they are allowed."""
        if self.room is not None and count > self.room:
            return Verdict(reason=Reason.LIMIT_NODES)
        share = self._share(facts)
        excesses = [
            f'"{quota.name}", resources: {", ".join(sorted(short))}'
            for quota in self._quotas
            if quota.covers(share) and (short := quota.short(share, count))
        ]
        return Verdict(reason=Reason.LIMIT_RESOURCES, detail="; ".join(excesses)) if excesses else None

    def allowed(self, facts: GroupFacts, count: int) -> int:
        """Return how many of *count* more nodes of a group are allowed."""
        share = self._share(facts)
        if self.room is not None:
            count = min(count, self.room)
        for quota in self._quotas:
            if quota.covers(share):
                count = quota.allowed(share, count)
        return count

    def take(self, facts: GroupFacts, count: int) -> None:
        """Count *count* nodes as added, or as taken back if it is negative."""
        if self.room is not None:
            self.room -= count
        self._count(self._share(facts), count)

    def _count(self, share: _Share, count: int) -> None:
        for quota in self._quotas:
            if quota.covers(share):
                quota.take(share, count)

    def _node(self, name: str, provider: str) -> _Share:
        node = self._world.cluster.nodes[name]
        counted = amounts(node.capacity, self._world.gpus.get(name))
        return _Share(provider=provider, labels=node.metadata.labels, amounts={**counted, NODES: 1})

    def _share(self, facts: GroupFacts) -> _Share:
        known = self._shares.get(facts.id)
        if known is None:
            assert facts.template is not None
            counted = amounts(facts.template.capacity, self._world.group_gpus.get(facts.id))
            known = _Share(provider=facts.provider, labels=facts.template.labels, amounts={**counted, NODES: 1})
            self._shares[facts.id] = known
        return known


def short_of(objection: Verdict) -> frozenset[str]:
    """Return the resources that an *objection* of `Limits` names."""
    found = _SHORT.findall(objection.detail) if objection.reason is Reason.LIMIT_RESOURCES else ()
    return frozenset(name for names in found for name in names.split(", "))


def _quotas(world: World, settings: LimitSettings) -> list[_Quota]:
    most = {"cpu": settings.cpu.max, "memory": settings.memory.max, **{gpu.type: gpu.max for gpu in settings.gpus}}
    quotas = [_Quota(name="cluster-wide", covers=_is_real, left=most)]
    quotas += [_of_provider(name, limits.maximum) for name, limits in world.resource_limits.items() if limits.maximum]
    if settings.capacity_quotas:
        quotas += [_of_selector(name, quota) for name, quota in world.cluster.quotas.items()]
    return quotas


def _of_selector(name: str, quota: CapacityQuota) -> _Quota:
    selector = quota.spec.selector
    return _Quota(
        name=name,
        covers=lambda share: _is_real(share) and (selector is None or selector.matches(share.labels)),
        left=dict(quota.maximum),
        by_label=selector is not None,
    )


def _of_provider(provider: str, maximum: Resources) -> _Quota:
    return _Quota(
        name=f"provider {provider}",
        covers=lambda share: share.provider == provider and _is_real(share),
        left=dict(maximum),
    )


def _is_real(share: _Share) -> bool:
    return is_real(share.labels)
