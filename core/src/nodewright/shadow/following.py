"""Following: the memory of a shadow goes by what the other one does, as if that were our own doing."""

from dataclasses import replace
from datetime import datetime

from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.config.model import Settings
from nodewright.decision.health.backoff import Backoffs
from nodewright.decision.memory import Backoff, GroupChanges, Memory, Removal, ScaleUpRequest
from nodewright.decision.world import World
from nodewright.shadow.sighting import Deeds, Sighting

_NOTHING = GroupChanges()
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
            drains=name in memory.removals and memory.removals[name].drains,
            deleted_at=_deleted_at(memory, name, deeds.at) if entry.left else None,
            ours=False,
        )
        for name, entry in sighting.going.items()
    }
    changes = _changes(memory, deeds)
    return replace(
        memory,
        removals=removals,
        unremovable_until={**memory.unremovable_until, **dict.fromkeys(deeds.gave_up, deeds.at + recheck)},
        backoffs=_backoffs(memory, deeds, settings),
        last_scale_up=deeds.at if deeds.grew else memory.last_scale_up,
        last_scale_down=deeds.at if deeds.left else memory.last_scale_down,
        last_scale_down_failure=deeds.at if deeds.gave_up else memory.last_scale_down_failure,
        changes=changes,
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
        requests = dict(memory.requests)
        for group, count in deeds.grew.items():
            known = requests.get(group)
            requests[group] = ScaleUpRequest(at=deeds.at, count=(known.count if known else 0) + count)
        return replace(memory, requests=requests)
    ordered = {group: request for group, request in twin.requests.items() if group in deeds.grew}
    requests = {**memory.requests, **ordered}
    return replace(
        memory,
        requests=requests,
        intentions=tuple(each for each in twin.intentions if each.group in requests),
        replacements=twin.replacements,
        turn=twin.turn,
    )


def _backoffs(memory: Memory, deeds: Deeds, settings: Settings) -> dict[str, Backoff]:
    """Return back-offs with groups that gave machines up which failed unseen, from one look to the next."""
    backoffs = Backoffs(memory.backoffs, memory.pools, settings.health.backoff, deeds.at)
    unseen = {group for machine, group in deeds.lost.items() if machine not in memory.failed_since}
    for group in unseen & deeds.shrank.keys():
        if not backoffs.runs(group):
            backoffs.note(group, "", _FAILED)
    return backoffs.groups


def _deleted_at(memory: Memory, name: str, now: datetime) -> datetime:
    known = memory.removals.get(name)
    return (known.deleted_at if known is not None else None) or now


def _changes(memory: Memory, deeds: Deeds) -> dict[str, GroupChanges]:
    changes = dict(memory.changes)
    for groups, moment in (
        (deeds.grew, {"grown": deeds.at}),
        (deeds.left.values(), {"shrunk": deeds.at}),
        (deeds.gave_up.values(), {"stuck": deeds.at}),
    ):
        for group in groups:
            changes[group] = replace(changes.get(group, _NOTHING), **moment)
    return changes
