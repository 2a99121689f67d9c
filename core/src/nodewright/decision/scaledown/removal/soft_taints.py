"""Soft taints: hints to the scheduler to prefer other nodes to unneeded ones.

They note since when, so that a process that has lost its memory can go by them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from nodewright.api.decision import SoftTaint, SoftUntaint
from nodewright.config.model import ScaleDown
from nodewright.decision.memory import RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.node import DELETION_CANDIDATE


@dataclass(frozen=True, kw_only=True)
class SoftTaintPlan:
    """Nodes whose hint changes."""

    soft_untaint: tuple[SoftUntaint, ...] = ()
    soft_taint: tuple[SoftTaint, ...] = ()


def plan_soft_taints(world: World, unneeded: UnneededMemory, leaving: RemovalMemory, policy: Policy) -> SoftTaintPlan:
    """Return which nodes get a hint or lose it, within the budget of a loop. Those that lose it come first.

    With a budget of 0 there are no hints, and all that are found are removed at once.
    """
    removals = leaving.removals
    wanted = {name: since for name, since in unneeded.since.items() if name not in removals}
    most = policy.settings.scale_down.soft_taints.max_count
    stale = [name for name, _ in _tainted(world) if not most or (name not in wanted and name not in removals)]
    if not most:
        return SoftTaintPlan(soft_untaint=tuple(SoftUntaint(node=name) for name in stale))
    stale = stale[:most]
    missing = (name for name, since in wanted.items() if _lacks(world.cluster.nodes.get(name), since))
    return SoftTaintPlan(
        soft_untaint=tuple(SoftUntaint(node=name) for name in stale),
        soft_taint=tuple(SoftTaint(node=name, since=wanted[name]) for name in islice(missing, most - len(stale))),
    )


def candidates_by_taint(world: World, settings: ScaleDown, now: datetime) -> dict[str, datetime]:
    """Return the nodes that are unneeded by their soft taints, and since when, if these are young enough.

    For groups that are seen for the first time: what an earlier process found out about their nodes still holds.
    """
    return {
        name: since
        for name, node in _tainted(world)
        if (since := unneeded_since(node)) is not None and timedelta(0) <= now - since < settings.candidate_ttl
    }


def _tainted(world: World) -> Iterator[tuple[str, Node]]:
    """Yield the nodes with a soft taint whose group can be read. Other nodes may belong to another autoscaler."""
    for name, node in world.cluster.nodes.items():
        if node.spec.taints and node.taint(DELETION_CANDIDATE):
            group = world.group_on(name)
            if group is not None and not group.error:
                yield name, node


def _lacks(node: Node | None, since: datetime) -> bool:
    """Tell whether *node* exists and its taint does not say that it is unneeded *since* then."""
    return node is not None and unneeded_since(node) != since.replace(microsecond=0)


def unneeded_since(node: Node) -> datetime | None:
    """Return since when *node* is unneeded by its soft taint; None if it has none that says so."""
    taint = node.taint(DELETION_CANDIDATE)
    return None if taint is None else taint.moment
