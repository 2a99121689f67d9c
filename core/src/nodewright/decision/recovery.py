"""Recovery: what a killed process left open, and what groups bring along that are seen for the first time."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.api.group import GroupFacts
from nodewright.config.model import ScaleDown
from nodewright.decision.execution import Hold
from nodewright.decision.health import adopt_orders
from nodewright.decision.memory import Memory, Removal, ScaleUpRequest
from nodewright.decision.scaledown.removal.soft_taints import candidates_by_taint
from nodewright.decision.world import World
from nodewright.objects.node import TO_BE_DELETED

#: A call whose caller has died takes effect within this time, or never.
_LANDING = timedelta(seconds=15)
#: The wait for a deletion is shorter: it does no harm if it is repeated.
_LANDING_OF_DELETION = timedelta(seconds=5)
#: How far the clock of the machine that noted the time of the call may be ahead of ours.
_SKEW = timedelta(minutes=1)


def recover(world: World, memory: Memory, now: datetime) -> tuple[World, Memory]:
    """Return *world* and *memory* with what is known by now about calls that a killed process left unanswered.

    A group that does not have the size of its last order yet is held while the order may still take effect. After that
    the size shows the order, or the assessment of health forgets it. A deletion that the cloud does not know of after a
    moment is done again. A node without the mark never began to go.
    """
    if not any(request.unanswered for request in memory.orders.requests.values()) and not any(
        removal.unanswered for removal in memory.leaving.removals.values()
    ):
        return world, memory
    answered, groups = [], []
    for facts in world.groups:
        request = memory.orders.requests.get(facts.id)
        if request is not None and request.unanswered and not facts.error:
            if _may_land(facts, request, now):
                facts = _held(facts, request)
            else:
                answered.append(facts.id)
        groups.append(facts)
    removals = {}
    for name, removal in memory.leaving.removals.items():
        known: Removal | None = removal
        if removal.unanswered and _is_readable(world, removal):
            known = _recovered(world, name, removal, now)
        if known is not None:
            removals[name] = known
    orders, leaving = memory.orders.answered(answered), memory.leaving.advanced(removals)
    return replace(world, groups=tuple(groups)), replace(memory, orders=orders, leaving=leaving)


def adopt(world: World, memory: Memory, settings: ScaleDown, now: datetime) -> Memory:
    """Return *memory* with what the *world*'s groups, which are seen for the first time, bring along.

    Their open orders count as given at *now*. Nodes are unneeded since the time in their soft taints. A node that is
    younger than its timer has the name of an earlier node, and its timer starts anew.
    """
    nodes = world.cluster.nodes
    namesakes = [
        name
        for name, since in memory.unneeded.since.items()
        if (node := nodes.get(name)) is not None and (made := node.metadata.creation_timestamp) and made > since
    ]
    unneeded = memory.unneeded.without(namesakes) if namesakes else memory.unneeded
    tainted = candidates_by_taint(world, settings, now)
    return replace(
        memory,
        orders=adopt_orders(world, memory.orders, now),
        unneeded=unneeded.recalled(tainted) if tainted else unneeded,
    )


def _may_land(facts: GroupFacts, request: ScaleUpRequest, now: datetime) -> bool:
    return facts.target_size < request.unanswered and -_SKEW <= now - request.at < _LANDING


def _held(facts: GroupFacts, request: ScaleUpRequest) -> GroupFacts:
    until = request.at + _LANDING
    why = f"an order of size {request.unanswered} was under way when its process ended: it may count until {until:%X}"
    return Hold(why=why, size=request.unanswered).over(facts)


def _is_readable(world: World, removal: Removal) -> bool:
    facts = world.group(removal.group)
    return facts is not None and not facts.error


def _recovered(world: World, name: str, removal: Removal, now: datetime) -> Removal | None:
    """Return *removal* as the cluster and the cloud show it; None if it never began."""
    node = world.cluster.nodes.get(name)
    if removal.deleted_at is None:
        marked = node is None or node.taint(TO_BE_DELETED) is not None
        return replace(removal, unanswered=False) if marked else None
    machine = removal.provider_id
    listed = any(instance.id == machine for facts in world.groups for instance in facts.instances)
    gone = machine in world.deleting or machine in world.stopped or world.is_another(machine, removal.incarnation)
    if listed and not gone:
        if -_SKEW <= now - removal.deleted_at < _LANDING_OF_DELETION:
            return removal
        return replace(removal, unanswered=False, deleted_at=None)
    return replace(removal, unanswered=False)
