"""Following: the memory of a shadow goes by what the other one does, as if that were our own doing."""

from dataclasses import replace
from datetime import datetime

from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.config.model import Settings
from nodewright.decision.health.backoff import Backoffs
from nodewright.decision.memory import Backoff, Memory, Removal
from nodewright.decision.world import World
from nodewright.shadow.sighting import Deeds, Sighting

_FAILED = InstanceError(error_class=ErrorClass.OTHER, code="givenUp", message="others gave its machines up")


def follow(memory: Memory, sighting: Sighting, deeds: Deeds, settings: Settings, twin: Memory | None = None) -> Memory:
    """Return *memory* after *deeds*, as it would be if we had done them.

    *twin* is what we would remember if we had ordered the same: None if we would not have.
    """
    memory = _with_growth(memory, deeds, twin)
    recheck = settings.scale_down.unremovable_recheck
    removals = {
        name: Removal(
            group=entry.group,
            provider_id=entry.provider_id,
            started=entry.since,
            drains=name in memory.leaving.removals and memory.leaving.removals[name].drains,
            deleted_at=_deleted_at(memory, name, deeds.at) if entry.left else None,
            ours=False,
        )
        for name, entry in sighting.going.items()
    }
    return replace(
        memory,
        leaving=memory.leaving.advanced(removals),
        unneeded=memory.unneeded.unremovable(deeds.gave_up, deeds.at + recheck),
        health=memory.health.backed_off(_backoffs(memory, deeds, settings)),
        cooldown=memory.cooldown.grown(deeds.grew, deeds.at)
        .shrunk(tuple(deeds.left.values()), deeds.at)
        .stuck(tuple(deeds.gave_up.values()), deeds.at),
    )


def without_growth(world: World, deeds: Deeds, before: Sighting) -> World:
    """Return *world* as if the groups had not grown since *before*, for a look at what we would have done then."""
    known = before.machines | {node.spec.provider_id for node in world.cluster.nodes.values()}
    groups = (
        replace(
            facts,
            target_size=facts.target_size - deeds.grew[facts.id],
            instances=tuple(each for each in facts.instances if each.id in known),
        )
        if facts.id in deeds.grew
        else facts
        for facts in world.groups
    )
    return replace(world, groups=tuple(groups))


def _with_growth(memory: Memory, deeds: Deeds, twin: Memory | None) -> Memory:
    if twin is None:
        return replace(memory, orders=memory.orders.raised(deeds.grew, deeds.at))
    return replace(
        memory,
        orders=memory.orders.joined(twin.orders, deeds.grew),
        consolidation=memory.consolidation.with_replacements_of(twin.consolidation),
    )


def _backoffs(memory: Memory, deeds: Deeds, settings: Settings) -> dict[str, Backoff]:
    """Return back-offs with groups that gave machines up which failed unseen, from one look to the next."""
    backoffs = Backoffs(memory.health.backoffs, memory.health.pools, settings.health.backoff, deeds.at)
    unseen = {group for machine, group in deeds.lost.items() if machine not in memory.health.failed_since}
    for group in unseen & deeds.shrank.keys():
        if not backoffs.runs(group):
            backoffs.note(group, "", _FAILED)
    return backoffs.groups


def _deleted_at(memory: Memory, name: str, now: datetime) -> datetime:
    known = memory.leaving.removals.get(name)
    return (known.deleted_at if known is not None else None) or now
