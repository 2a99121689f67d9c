"""What a former life of the process left open: calls of which nobody heard whether they were made, or taken."""

from dataclasses import replace
from datetime import datetime, timedelta

from nodewright.api.group import GroupFacts
from nodewright.decision.aftermath import Held
from nodewright.decision.memory import Memory, Removal, ScaleUpRequest
from nodewright.decision.world import World
from nodewright.objects.node import TO_BE_DELETED

#: A call whose caller has died is taken within this time, or never.
_LANDING = timedelta(seconds=15)
#: A deletion is waited for less long: done twice, it does no harm.
_LANDING_OF_DELETION = timedelta(seconds=5)
#: So far the clock of another machine, which noted when the call was made, may be ahead of ours.
_SKEW = timedelta(minutes=1)


def settle(world: World, memory: Memory, now: datetime) -> tuple[World, Memory]:
    """Return *world* and *memory* with what can be told by now of the calls that a former life left unanswered.

    A group that does not have the size of its last order yet is held while the order may still be taken: then it either
    shows, or was never taken and is forgotten as soon as health is assessed. A deletion that the cloud knows
    nothing of a moment later is to be done again. A node without the mark never began to go.
    """
    if not any(request.unanswered for request in memory.requests.values()) and not any(
        removal.unanswered for removal in memory.removals.values()
    ):
        return world, memory
    requests, removals, groups = dict(memory.requests), dict(memory.removals), []
    for facts in world.groups:
        request = memory.requests.get(facts.id)
        if request is not None and request.unanswered and not facts.error:
            if _may_land(facts, request, now):
                facts = _held(facts, request)
            else:
                requests[facts.id] = replace(request, unanswered=0)
        groups.append(facts)
    for name, removal in memory.removals.items():
        if removal.unanswered and _is_readable(world, removal):
            settled = _settled(world, name, removal, now)
            if settled is None:
                del removals[name]
            else:
                removals[name] = settled
    return replace(world, groups=tuple(groups)), replace(memory, requests=requests, removals=removals)


def forget_namesakes(world: World, memory: Memory) -> Memory:
    """Return *memory* without since when nodes are unneeded that are younger than that: others had their names."""
    nodes = world.cluster.nodes
    kept = {
        name: since
        for name, since in memory.unneeded_since.items()
        if (node := nodes.get(name)) is None or (made := node.metadata.creation_timestamp) is None or made <= since
    }
    return memory if len(kept) == len(memory.unneeded_since) else replace(memory, unneeded_since=kept)


def _may_land(facts: GroupFacts, request: ScaleUpRequest, now: datetime) -> bool:
    return facts.target_size < request.unanswered and -_SKEW <= now - request.at < _LANDING


def _held(facts: GroupFacts, request: ScaleUpRequest) -> GroupFacts:
    until = request.at + _LANDING
    why = f"an order of size {request.unanswered} was under way when its process ended: it may count until {until:%X}"
    return Held(why=why, size=request.unanswered).over(facts)


def _is_readable(world: World, removal: Removal) -> bool:
    return any(facts.id == removal.group and not facts.error for facts in world.groups)


def _settled(world: World, name: str, removal: Removal, now: datetime) -> Removal | None:
    """Return *removal* as the cluster and the cloud show it; None if it never began."""
    node = world.cluster.nodes.get(name)
    if removal.deleted_at is None:
        marked = node is None or node.taint(TO_BE_DELETED) is not None
        return replace(removal, unanswered=False) if marked else None
    listed = any(instance.id == removal.provider_id for facts in world.groups for instance in facts.instances)
    if listed and removal.provider_id not in world.deleting:
        if -_SKEW <= now - removal.deleted_at < _LANDING_OF_DELETION:
            return removal
        return replace(removal, unanswered=False, deleted_at=None)
    return replace(removal, unanswered=False)
