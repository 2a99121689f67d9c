"""Limits: how large the cluster, or a part of it, may get."""

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

#: As a resource: one for each node.
NODES = "nodes"
_CORE = 1000
#: A node that stands for another cluster has no size of its own.
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
class _Machine:
    """What a node counts for in limits."""

    provider: str
    labels: Mapping[str, str]
    amounts: Resources


@dataclass(kw_only=True)
class _Quota:
    """Most of some resources that certain nodes may have together, and what is left of it."""

    name: str
    covers: Callable[[_Machine], bool]
    left: dict[str, int] = field(default_factory=dict)
    #: Whether labels decide which nodes it is about.
    by_label: bool = False

    def take(self, machine: _Machine, count: int) -> None:
        """Count *count* more machines."""
        for resource in self.left:
            self.left[resource] -= count * machine.amounts.get(resource, 0)

    def allowed(self, machine: _Machine, count: int) -> int:
        """Return how many of *count* more machines there may be."""
        demands = ((max(0, left), machine.amounts.get(name, 0)) for name, left in self.left.items())
        return min([count, *(left // amount for left, amount in demands if amount)])

    def short(self, machine: _Machine, count: int) -> list[str]:
        """Return the resources of which there is not enough for *count* more machines."""
        return [name for name, left in self.left.items() if count * machine.amounts.get(name, 0) > max(0, left)]


class Limits:
    """What may still be added, over all groups and rounds of one scale-up."""

    def __init__(self, world: World, health: Assessment, settings: LimitSettings) -> None:
        self._world = world
        present = [name for name in world.cluster.nodes if name not in health.starting]
        there = Counter(world.group_of.get(name) for name in present)
        # A group that is not waited for may still deliver what it was asked for.
        coming = {
            group.facts.id: (group.facts, number)
            for group in health.groups
            if (number := max(group.upcoming, group.facts.target_size - there[group.facts.id])) > 0
        }
        total = len(present) + sum(number for _, number in coming.values())
        #: How many nodes the cluster may gain; None if there is no limit.
        self.room = max(0, settings.nodes.max - total) if settings.nodes.max else None
        self._quotas = _quotas(world, settings)
        self._machines: dict[str, _Machine] = {}
        providers = {group.facts.id: group.facts.provider for group in health.groups}
        # Nodes alike in all that quotas look at are counted together.
        kinds: dict[tuple[object, ...], list[str]] = {}
        selecting = any(quota.by_label for quota in self._quotas)
        for name in present:
            node = world.cluster.nodes[name]
            provider = providers.get(world.group_of.get(name, ""), "")
            shown = tuple(node.metadata.labels.items()) if selecting else node.metadata.labels.get(_VIRTUAL[0])
            kinds.setdefault((provider, node.size, world.gpus.get(name), shown), []).append(name)
        for names in kinds.values():
            provider = providers.get(world.group_of.get(names[0], ""), "")
            self._count(self._node(names[0], provider), len(names))
        for facts, number in coming.values():
            if facts.template is not None:
                self._count(self._machine(facts), number)

    def objection(self, facts: GroupFacts, count: int) -> Verdict | None:
        """Return what forbids to add *count* nodes of a group, which must have a template."""
        if self.room is not None and count > self.room:
            return Verdict(reason=Reason.LIMIT_NODES)
        machine = self._machine(facts)
        told = [
            f'"{quota.name}", resources: {", ".join(sorted(short))}'
            for quota in self._quotas
            if quota.covers(machine) and (short := quota.short(machine, count))
        ]
        return Verdict(reason=Reason.LIMIT_RESOURCES, detail="; ".join(told)) if told else None

    def allowed(self, facts: GroupFacts, count: int) -> int:
        """Return how many of *count* nodes of a group may be added."""
        machine = self._machine(facts)
        if self.room is not None:
            count = min(count, self.room)
        for quota in self._quotas:
            if quota.covers(machine):
                count = quota.allowed(machine, count)
        return count

    def take(self, facts: GroupFacts, count: int) -> None:
        """Count nodes that are added (or, with a negative *count*, given up again)."""
        if self.room is not None:
            self.room -= count
        self._count(self._machine(facts), count)

    def _count(self, machine: _Machine, count: int) -> None:
        for quota in self._quotas:
            if quota.covers(machine):
                quota.take(machine, count)

    def _node(self, name: str, provider: str) -> _Machine:
        node = self._world.cluster.nodes[name]
        counted = amounts(node.capacity, self._world.gpus.get(name))
        return _Machine(provider=provider, labels=node.metadata.labels, amounts={**counted, NODES: 1})

    def _machine(self, facts: GroupFacts) -> _Machine:
        known = self._machines.get(facts.id)
        if known is None:
            assert facts.template is not None
            counted = amounts(facts.template.capacity, self._world.group_gpus.get(facts.id))
            known = _Machine(provider=facts.provider, labels=facts.template.labels, amounts={**counted, NODES: 1})
            self._machines[facts.id] = known
        return known


def short_of(objection: Verdict) -> frozenset[str]:
    """Return the resources that an *objection* of `Limits` is about."""
    told = _SHORT.findall(objection.detail) if objection.reason is Reason.LIMIT_RESOURCES else ()
    return frozenset(name for names in told for name in names.split(", "))


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
        covers=lambda machine: _is_real(machine) and (selector is None or selector.matches(machine.labels)),
        left=dict(quota.maximum),
        by_label=selector is not None,
    )


def _of_provider(provider: str, maximum: Resources) -> _Quota:
    return _Quota(
        name=f"provider {provider}",
        covers=lambda machine: machine.provider == provider and _is_real(machine),
        left=dict(maximum),
    )


def _is_real(machine: _Machine) -> bool:
    return is_real(machine.labels)
