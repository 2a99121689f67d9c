"""Floors: how small the cluster, or a provider's part of it, may get."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Limits
from nodewright.decision.limits import amounts, is_real
from nodewright.decision.memory import RemovalMemory
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance, everywhere
from nodewright.decision.world import World
from nodewright.objects import Node, Resources, format_resource
from nodewright.objects.node import TO_BE_DELETED

_FLOOR = re.compile(r'", (.+): at least ')


def floors(world: World, starting: Set[str], memory: RemovalMemory, limits: Limits) -> Iterator[Allowance]:
    """Yield what may go of each resource that has a smallest total.

    Nodes that are *starting* or on their way out are not there, as for Cluster Autoscaler.
    """
    least = {"cpu": limits.cpu.min, "memory": limits.memory.min, **{gpu.type: gpu.min for gpu in limits.gpus}}
    parts: list[tuple[str, Mapping[str, int], str | None]] = [("cluster-wide", least, None)]
    parts += [(f"provider {name}", each.minimum, name) for name, each in world.resource_limits.items()]
    for part, minimum, provider in parts:
        floor = {resource: amount for resource, amount in minimum.items() if amount > 0}
        if floor:
            yield from _part(part, floor, provider, world, starting, memory)


def floor_of(refusal: Verdict) -> str:
    """Return the resource of which too little would be left; empty if *refusal* is about something else."""
    told = _FLOOR.search(refusal.detail) if refusal.reason is Reason.LIMIT_MIN_RESOURCES else None
    return told[1] if told else ""


def _part(
    part: str, floor: Resources, provider: str | None, world: World, starting: Set[str], memory: RemovalMemory
) -> Iterator[Allowance]:
    def draw(resource: str) -> Callable[[Removable], int]:
        return lambda entry: _counted(entry.node, world).get(resource, 0)

    # Nodes that are alike are counted together.
    kinds: dict[tuple[object, ...], list[Node]] = {}
    for node in _staying(provider, world, starting, memory):
        kinds.setdefault((node.size, world.gpus.get(node.name), is_real(node.metadata.labels)), []).append(node)
    totals = Counter[str]()
    for nodes in kinds.values():
        totals.update({name: amount * len(nodes) for name, amount in _counted(nodes[0], world).items()})
    for resource, least in floor.items():
        told = f'"{part}", {resource}: at least {format_resource(resource, least)}'
        yield Allowance(
            left=max(0, totals[resource] - least),
            refusal=Verdict(reason=Reason.LIMIT_MIN_RESOURCES, detail=told),
            draw=draw(resource),
            lasting=True,
            covers=everywhere if provider is None else lambda facts: facts.provider == provider,
        )


def _counted(node: Node, world: World) -> Resources:
    return amounts(node.capacity, world.gpus.get(node.name)) if is_real(node.metadata.labels) else {}


def _staying(provider: str | None, world: World, starting: Set[str], memory: RemovalMemory) -> Iterator[Node]:
    for name, node in world.cluster.nodes.items():
        if name in starting or name in memory.removals or node.taint(TO_BE_DELETED):
            continue
        group = world.group_on(name)
        if provider is None or (group is not None and group.provider == provider):
            yield node
