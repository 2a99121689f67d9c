"""Following: the memory of a shadow changes with what the other one does, as if we had done it."""

from dataclasses import replace
from datetime import datetime

from nodewright.api.instance import ErrorClass, InstanceError
from nodewright.config.model import Settings
from nodewright.decision.health.backoff import Backoffs
from nodewright.decision.memory import Backoff, Memory, Removal
from nodewright.decision.world import World
from nodewright.shadow.observation import Actions, Observation

_FAILED = InstanceError(error_class=ErrorClass.OTHER, code="givenUp", message="others gave its machines up")


def follow(
    memory: Memory, observation: Observation, actions: Actions, settings: Settings, twin: Memory | None = None
) -> Memory:
    """Return *memory* as it would be if we had taken *actions*.

    *twin* is the memory of a decision that orders the same; None if we would have ordered something else.
    """
    memory = _with_growth(memory, actions, twin)
    recheck = settings.scale_down.unremovable_recheck
    removals = {
        name: Removal(
            group=entry.group,
            provider_id=entry.provider_id,
            started=entry.since,
            drains=name in memory.leaving.removals and memory.leaving.removals[name].drains,
            deleted_at=_deleted_at(memory, name, actions.at) if entry.left else None,
            ours=False,
        )
        for name, entry in observation.marked.items()
    }
    return replace(
        memory,
        leaving=memory.leaving.advanced(removals),
        unneeded=memory.unneeded.unremovable(actions.gave_up, actions.at + recheck),
        health=memory.health.backed_off(_backoffs(memory, actions, settings)),
        cooldown=memory.cooldown.grown(actions.grew, actions.at)
        .shrunk(tuple(actions.left.values()), actions.at)
        .stuck(tuple(actions.gave_up.values()), actions.at),
    )


def without_growth(world: World, actions: Actions, before: Observation) -> World:
    """Return *world* as if the groups had not grown since *before*, to decide what we would have done then."""
    known = before.machines | {node.spec.provider_id for node in world.cluster.nodes.values()}
    groups = (
        replace(
            facts,
            target_size=facts.target_size - actions.grew[facts.id],
            instances=tuple(each for each in facts.instances if each.id in known),
        )
        if facts.id in actions.grew
        else facts
        for facts in world.groups
    )
    return replace(world, groups=tuple(groups))


def _with_growth(memory: Memory, actions: Actions, twin: Memory | None) -> Memory:
    if twin is None:
        return replace(memory, orders=memory.orders.raised(actions.grew, actions.at))
    return replace(
        memory,
        orders=memory.orders.joined(twin.orders, actions.grew),
        consolidation=memory.consolidation.with_replacements_of(twin.consolidation),
    )


def _backoffs(memory: Memory, actions: Actions, settings: Settings) -> dict[str, Backoff]:
    """Return back-offs, with those of groups whose machines failed and were given up between two observations."""
    backoffs = Backoffs(memory.health, settings.health.backoff, actions.at)
    unseen = {group for machine, group in actions.lost.items() if machine not in memory.health.failed_since}
    for group in unseen & actions.shrank.keys():
        if not backoffs.runs(group):
            backoffs.note(group, _FAILED)
    return backoffs.groups


def _deleted_at(memory: Memory, name: str, now: datetime) -> datetime:
    known = memory.leaving.removals.get(name)
    return (known.deleted_at if known is not None else None) or now
