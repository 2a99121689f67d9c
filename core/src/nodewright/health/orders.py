"""Orders of an earlier life: what the cloud still owes when we begin."""

from dataclasses import replace
from datetime import datetime

from nodewright.memory import Memory, ScaleUpRequest
from nodewright.world import World


def adopt_orders(world: World, memory: Memory, now: datetime) -> Memory:
    """Return *memory* with every open order of the world's groups as if it had been given at *now*.

    For the first loop of a life: whoever gave them, nothing should be ordered twice.
    """
    adopted = {
        facts.id: ScaleUpRequest(at=now, count=unmet)
        for facts in world.groups
        if facts.id not in memory.requests and (unmet := facts.target_size - len(facts.instances)) > 0
    }
    return replace(memory, requests={**memory.requests, **adopted})
