"""Errors of groups: why machines do not come, where no machine shows it."""

from collections.abc import Iterator

from nodewright.api.group import GroupFacts
from nodewright.api.instance import InstanceError
from nodewright.decision.memory import Memory
from nodewright.decision.world import World


def error_key(error: InstanceError) -> str:
    """Return a key that errors share that differ only in what the cloud says of them, which may change by itself."""
    return f"{error.error_class}:{error.code}:{error.pool}"


def fresh_errors(world: World, before: Memory, memory: Memory) -> Iterator[tuple[GroupFacts, InstanceError]]:
    """Yield the errors of *world*'s groups that *memory* has and the one *before* has not, each once with its group."""
    if memory.health.errors == before.health.errors:
        return
    for facts in world.groups:
        known = before.health.errors.get(facts.id, {}).keys()
        fresh = {key: error for error in reversed(facts.errors) if (key := error_key(error)) not in known}
        yield from ((facts, error) for error in fresh.values())
