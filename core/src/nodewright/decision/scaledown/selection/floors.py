"""Floors: how small the cluster, or a provider's part of it, may get."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Limits as LimitSettings
from nodewright.decision.limits import amounts, is_real
from nodewright.decision.memory import RemovalMemory
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance, everywhere
from nodewright.decision.world import World
from nodewright.objects import Node, Resources, format_resource
from nodewright.objects.node import TO_BE_DELETED

_FLOOR = re.compile(r'", (.+): at least ')


class Floors:
    """The smallest totals of resources. Nodes that are *starting* or leaving don't count, as in Cluster Autoscaler."""

    def __init__(self, world: World, starting: Set[str], leaving: RemovalMemory) -> None:
        self._world = world
        self._absent = starting | leaving.removals.keys() | world.stopped_nodes

    def allowances(self, limits: LimitSettings) -> Iterator[Allowance]:
        """Yield what may go of each resource that has a smallest total."""
        least = {"cpu": limits.cpu.min, "memory": limits.memory.min, **{gpu.type: gpu.min for gpu in limits.gpus}}
        parts: list[tuple[str, Mapping[str, int], str | None]] = [("cluster-wide", least, None)]
        parts += [(f"provider {name}", each.minimum, name) for name, each in self._world.resource_limits.items()]
        for part, minimum, provider in parts:
            floor = {resource: amount for resource, amount in minimum.items() if amount > 0}
            if floor:
                yield from self._of_part(part, floor, provider)

    def _of_part(self, part: str, floor: Resources, provider: str | None) -> Iterator[Allowance]:
        def draw(resource: str) -> Callable[[Removable], int]:
            return lambda entry: self._amounts(entry.node).get(resource, 0)

        # Equal nodes are counted together.
        equal: dict[tuple[object, ...], list[Node]] = {}
        for node in self._present(provider):
            key = (node.size, self._world.gpus.get(node.name), is_real(node.metadata.labels))
            equal.setdefault(key, []).append(node)
        totals = Counter[str]()
        for nodes in equal.values():
            totals.update({name: amount * len(nodes) for name, amount in self._amounts(nodes[0]).items()})
        for resource, least in floor.items():
            detail = f'"{part}", {resource}: at least {format_resource(resource, least)}'
            yield Allowance(
                left=max(0, totals[resource] - least),
                refusal=Verdict(reason=Reason.LIMIT_MIN_RESOURCES, detail=detail),
                draw=draw(resource),
                lasting=True,
                covers=everywhere if provider is None else lambda facts: facts.provider == provider,
            )

    def _amounts(self, node: Node) -> Resources:
        if not is_real(node.metadata.labels):
            return {}
        return amounts(node.capacity, self._world.gpus.get(node.name))

    def _present(self, provider: str | None) -> Iterator[Node]:
        for name, node in self._world.cluster.nodes.items():
            if name in self._absent or node.taint(TO_BE_DELETED):
                continue
            group = self._world.group_on(name)
            if provider is None or (group is not None and group.provider == provider):
                yield node


def floor_of(refusal: Verdict) -> str:
    """Return the resource of which too little would be left; empty if *refusal* has another reason."""
    found = _FLOOR.search(refusal.detail) if refusal.reason is Reason.LIMIT_MIN_RESOURCES else None
    return found[1] if found else ""
