"""Disruption budgets: limits on removals beyond Cluster Autoscaler's, by reason, by group, by the hour."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from zoneinfo import ZoneInfo

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Disruption, DisruptionBudget
from nodewright.decision.memory import RemovalMemory
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance
from nodewright.decision.scaledown.selection.schedule import open_until
from nodewright.decision.world import World

_HOUR = timedelta(hours=1)


def disruption_budgets(
    world: World, memory: RemovalMemory, disruption: Disruption, now: datetime
) -> Iterator[Allowance]:
    """Yield what each budget that holds at *now* leaves: nodes on their way out count, whatever they go for."""
    for index, budget in enumerate(disruption.budgets):
        until = None if budget.schedule is None else open_until(budget.schedule, now)
        if budget.schedule is None or until is not None:
            yield _budget(f"scaleDown.disruption.budgets[{index}]", budget, until, world, memory)


def eviction_limit(memory: RemovalMemory, disruption: Disruption, now: datetime) -> Allowance | None:
    """Return how many pods may still have to move in this hour; None if there is no limit."""
    most = disruption.max_evictions_per_hour
    if not most:
        return None
    recent = [evictions for evictions in memory.evictions if now < evictions.at + _HOUR]
    told = f"{sum(evictions.count for evictions in recent)} of {most}"
    if recent:
        told += f", fewer from {recent[0].at + _HOUR:%H:%M:%S} on"
    return Allowance(
        left=max(0, most - sum(evictions.count for evictions in recent)),
        refusal=Verdict(reason=Reason.EVICTION_LIMIT, detail=told),
        draw=lambda entry: len(entry.move),
    )


def too_cheap(entry: Removable, disruption: Disruption) -> Verdict | None:
    """Return why *entry* costs too little to move its pods for; None if it costs enough, or none has to move."""
    if not disruption.min_saving or not entry.move:
        return None
    price = entry.group.hourly_price
    if price is not None and price >= disruption.min_saving:
        return None
    told = "nobody knows its price" if price is None else f"{price:g} an hour"
    return Verdict(reason=Reason.SAVING_TOO_SMALL, detail=f"{told}, at least {disruption.min_saving:g}")


def _budget(
    name: str, budget: DisruptionBudget, until: datetime | None, world: World, memory: RemovalMemory
) -> Allowance:
    covers = _scope(budget.groups)
    present = Counter(world.group_of.get(node, "") for node in world.cluster.nodes)
    total = sum(count for group, count in present.items() if group and covers(group))
    used = sum(covers(removal.group) for removal in memory.removals.values())
    most = budget.nodes.of(total)
    told = f"{name}: {used} of {most} nodes on their way out" if most else f"{name}: no nodes"
    if until is not None:
        zone = until.tzinfo.key if isinstance(until.tzinfo, ZoneInfo) else "UTC"
        told += f", until {until:%a %H:%M} {zone}"
    return Allowance(
        left=max(0, most - used),
        refusal=Verdict(reason=Reason.DISRUPTION_BUDGET, detail=told),
        draw=lambda entry: int(not budget.reasons or entry.reason in budget.reasons),
        covers=lambda facts: covers(facts.id),
        plain=not budget.reasons and not budget.groups,
    )


def _scope(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda group: not patterns or any(fnmatchcase(group, pattern) for pattern in patterns)
