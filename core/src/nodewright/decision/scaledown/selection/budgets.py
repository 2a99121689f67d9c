"""Disruption budgets: limits on removals beyond Cluster Autoscaler's, by reason, by group, by the hour."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from nodewright.api.group_name import is_called
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.config.model import Disruption, DisruptionBudget, Schedule
from nodewright.decision.memory import RemovalMemory
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance
from nodewright.decision.world import World

_HOUR = timedelta(hours=1)
#: Clocks are set back by no more.
_LARGEST_CHANGE = timedelta(hours=2)
#: A window may begin before the last one ends; no more than so many in a row are followed.
_MOST_WINDOWS = 50


class DisruptionBudgets:
    """What the settings for disruption leave at *now*, given the removals under way."""

    def __init__(self, world: World, leaving: RemovalMemory, settings: Disruption, now: datetime) -> None:
        self._world = world
        self._leaving = leaving
        self._settings = settings
        self._now = now

    def allowances(self) -> Iterator[Allowance]:
        """Yield what each budget that holds now leaves, then the limit on evictions if there is one.

        All nodes on their way out count, whatever their reason.
        """
        for index, budget in enumerate(self._settings.budgets):
            until = None if budget.schedule is None else open_until(budget.schedule, self._now)
            if budget.schedule is None or until is not None:
                yield self._allowance(f"scaleDown.disruption.budgets[{index}]", budget, until)
        if self._settings.max_evictions_per_hour:
            yield self._evictions(self._settings.max_evictions_per_hour)

    def too_cheap(self, entry: Removable) -> Verdict | None:
        """Return why *entry* costs too little to move its pods; None if it costs enough, or no pod has to move."""
        least = self._settings.min_saving
        if not least or not entry.move:
            return None
        price = entry.group.hourly_price
        if price is not None and price >= least:
            return None
        known = "nobody knows its price" if price is None else f"{price:g} an hour"
        return Verdict(reason=Reason.SAVING_TOO_SMALL, detail=f"{known}, at least {least:g}")

    def _allowance(self, name: str, budget: DisruptionBudget, until: datetime | None) -> Allowance:
        covers = _scope(budget.groups)
        total = sum(count for group, count in self._present.items() if group and covers(group))
        used = sum(covers(removal.group) for removal in self._leaving.removals.values())
        most = budget.nodes.of(total)
        detail = f"{name}: {used} of {most} nodes on their way out" if most else f"{name}: no nodes"
        if until is not None:
            zone = until.tzinfo.key if isinstance(until.tzinfo, ZoneInfo) else "UTC"
            detail += f", until {until:%a %H:%M} {zone}"
        return Allowance(
            left=max(0, most - used),
            refusal=Verdict(reason=Reason.DISRUPTION_BUDGET, detail=detail),
            draw=lambda entry: int(not budget.reasons or entry.reason in budget.reasons),
            covers=lambda facts: covers(facts.id),
            plain=not budget.reasons and not budget.groups,
        )

    def _evictions(self, most: int) -> Allowance:
        """Return how many pods may still have to move in this hour."""
        recent = [evictions for evictions in self._leaving.evictions if self._now < evictions.at + _HOUR]
        count = sum(evictions.count for evictions in recent)
        detail = f"{count} of {most}"
        if recent:
            detail += f", fewer from {recent[0].at + _HOUR:%H:%M:%S} on"
        return Allowance(
            left=max(0, most - count),
            refusal=Verdict(reason=Reason.EVICTION_LIMIT, detail=detail),
            draw=lambda entry: len(entry.move),
        )

    @cached_property
    def _present(self) -> Counter[str]:
        """The number of nodes by group; under the empty name those of no group."""
        return Counter(self._world.group_of.get(node, "") for node in self._world.cluster.nodes)


def open_until(schedule: Schedule, now: datetime) -> datetime | None:
    """Return when the window that is open at *now* shuts, in the schedule's time zone; None if none is open.

    A window opens at the times that the schedule names and stays open for as long as it says. Where clocks change, the
    hours that really pass count.
    """
    zone = ZoneInfo(schedule.time_zone)
    # In an hour that comes twice, a later time on the clock may have been earlier.
    backwards = CronSim(schedule.from_, (now + _LARGEST_CHANGE).astimezone(zone), reverse=True)
    opened = next((tick for tick in backwards if tick.astimezone(UTC) <= now), None)
    if opened is None:
        return None
    shuts = opened.astimezone(UTC) + schedule.for_
    if shuts <= now:
        return None
    for opens in islice(CronSim(schedule.from_, opened), _MOST_WINDOWS):
        if opens.astimezone(UTC) > shuts:
            break
        shuts = opens.astimezone(UTC) + schedule.for_
    return shuts.astimezone(zone)


def _scope(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    return lambda group: not patterns or any(is_called(group, pattern) for pattern in patterns)
