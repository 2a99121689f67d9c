"""Soft taints: hints to the scheduler to prefer other nodes to those that are not needed.

They say since when, so that a life that remembers nothing can go by them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from nodewright.api.decision import SoftTaint, SoftUntaint
from nodewright.config.model import ScaleDown
from nodewright.decision.memory import Memory
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import DELETION_CANDIDATE


@dataclass(frozen=True, kw_only=True)
class SoftTaintPlan:
    """Nodes whose hint is to be changed."""

    soft_untaint: tuple[SoftUntaint, ...] = ()
    soft_taint: tuple[SoftTaint, ...] = ()


def plan_soft_taints(world: World, memory: Memory, settings: ScaleDown) -> SoftTaintPlan:
    """Return which nodes get a hint or lose it, within the budget of a loop; those that lose it come first.

    With a budget of 0 there are no hints, and all that are found go at once.
    """
    wanted = {name: since for name, since in memory.unneeded_since.items() if name not in memory.removals}
    most = settings.soft_taints.max_count
    stale = [name for name, _ in _tainted(world) if not most or (name not in wanted and name not in memory.removals)]
    if not most:
        return SoftTaintPlan(soft_untaint=tuple(SoftUntaint(node=name) for name in stale))
    stale = stale[:most]
    missing = (name for name, since in wanted.items() if _lacks(world.cluster.nodes.get(name), since))
    return SoftTaintPlan(
        soft_untaint=tuple(SoftUntaint(node=name) for name in stale),
        soft_taint=tuple(SoftTaint(node=name, since=wanted[name]) for name in islice(missing, most - len(stale))),
    )


def recall_candidates(world: World, memory: Memory, settings: ScaleDown, now: datetime) -> Memory:
    """Return *memory* with nodes as unneeded since their soft taints say, if those are young enough.

    For the first time that groups are seen: what an earlier life found out about their nodes holds on.
    """
    found = {
        name: since
        for name, node in _tainted(world)
        if (since := unneeded_since(node)) is not None and timedelta(0) <= now - since < settings.candidate_ttl
    }
    return replace(memory, unneeded_since={**found, **memory.unneeded_since}) if found else memory


def _tainted(world: World) -> Iterator[tuple[str, Node]]:
    """Yield the nodes with a soft taint whose group can be read: others may be somebody else's."""
    readable = {facts.id for facts in world.groups if not facts.error}
    for name, node in world.cluster.nodes.items():
        if node.spec.taints and node.taint(DELETION_CANDIDATE) and world.group_of.get(name) in readable:
            yield name, node


def _lacks(node: Node | None, since: datetime) -> bool:
    """Tell whether *node* is there and does not say that it is unneeded *since* then."""
    return node is not None and unneeded_since(node) != since.replace(microsecond=0)


def unneeded_since(node: Node) -> datetime | None:
    """Return since when *node* is unneeded by what its soft taint says; None if it says nothing."""
    taint = node.taint(DELETION_CANDIDATE)
    return None if taint is None else taint.moment
