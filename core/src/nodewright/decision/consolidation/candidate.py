"""Candidates of consolidation: needed nodes that cheaper ones could take over from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.decision.health.readiness import is_ready
from nodewright.decision.memory import ConsolidationMemory, OrderMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.drain.drainability import Drainability
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.disruption import disruption
from nodewright.decision.world import World
from nodewright.objects import Node
from nodewright.objects.duration import format_duration

#: Why a node stays that could still be replaced. All others go, or stay for a reason that holds here, too.
_STAYS = frozenset([Reason.NEEDED, Reason.NO_PLACE, Reason.RECENTLY_UNREMOVABLE])


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A node whose pods could move."""

    node: Node
    group: GroupFacts
    #: What it costs for an hour.
    price: float
    move: tuple[PodRow, ...]
    #: What it costs to move them.
    disruption: int

    def removable(self, detail: str) -> Removable:
        """Return the node as one that others took the place of."""
        verdict = Verdict(reason=Reason.CONSOLIDATED, detail=detail)
        return Removable(node=self.node, group=self.group, move=self.move, verdict=verdict, replaced=True)


def replaceable(
    world: World,
    verdicts: Mapping[str, Verdict],
    orders: OrderMemory,
    memory: ConsolidationMemory,
    policy: Policy,
    now: datetime,
) -> tuple[dict[str, GroupFacts], dict[str, str]]:
    """Return the groups of the nodes worth a look, and why others are not worth one; both in order of name.

    *verdicts* are those of scale-down: of nodes that go, or stay whatever they cost, nothing is said.
    """
    found: dict[str, GroupFacts] = {}
    against: dict[str, str] = {}
    for name in sorted(name for name, verdict in verdicts.items() if verdict.reason in _STAYS):
        group = world.group_on(name)
        assert group is not None, "verdicts of these kinds are on nodes of groups"
        growing = group.id in orders.requests
        objection = _objection(world.cluster.nodes[name], group, growing, world, memory, policy, now)
        if objection is None:
            found[name] = group
        else:
            against[name] = objection
    return found, against


def has_price(group: GroupFacts) -> bool:
    """Tell whether it is known what a node of *group* costs."""
    return group.hourly_price is not None and isfinite(group.hourly_price) and group.hourly_price >= 0


def _objection(
    node: Node,
    group: GroupFacts,
    growing: bool,
    world: World,
    memory: ConsolidationMemory,
    policy: Policy,
    now: datetime,
) -> str | None:
    settings = policy.settings.scale_down.consolidation
    if not has_price(group):
        return f"nobody can tell the price of a node of {group.id}"
    if group.options.zero_or_max_node_scaling:
        return f"{group.id} is used whole or not at all"
    if growing:
        return f"{group.id} is growing"
    if not is_ready(node, world, policy.settings.templates):
        return "it is not ready"
    born = node.metadata.creation_timestamp
    if born is not None and now - born < settings.after:
        return f"it is younger than {format_duration(settings.after)}"
    until = memory.left_alone_until.get(node.name)
    if until is not None and now < until:
        return f"left alone until {until:%H:%M:%S}, after a replacement"
    return None


def candidate(node: Node, group: GroupFacts, drainability: Drainability) -> Candidate | str:
    """Return what it means for a *node* of *group*, which has a price, to go; or what keeps it."""
    drainable = drainability.of(node.name)
    if drainable.blocker is not None:
        return str(drainable.blocker)
    if drainable.waits:
        return f"{drainable.waits[0].key} has to complete before"
    assert group.hourly_price is not None, "whoever is replaceable has a price"
    return Candidate(
        node=node,
        group=group,
        price=group.hourly_price,
        move=drainable.move,
        disruption=disruption(drainable.move),
    )


def pod_sets(rows: Sequence[PodRow], guests: Sequence[PodSet] = ()) -> list[PodSet]:
    """Return pods as sets of equal ones, with the *guests* that a simulation put beside them; large ones first."""
    together: dict[int, tuple[PodRow, list[str]]] = {}
    for row in rows:
        together.setdefault(row.pod_class.index, (row, []))[1].append(row.key)
    sets = [PodSet(pod=row.pod_class.pod, keys=tuple(keys)) for row, keys in together.values()]
    return sorted([*sets, *guests], key=_size, reverse=True)


def _size(pods: PodSet) -> tuple[int, int]:
    requests = pods.pod.requests
    return requests.get("cpu", 0), requests.get("memory", 0)
