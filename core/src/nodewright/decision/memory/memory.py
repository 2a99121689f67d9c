"""Memory: all slices together, and how they are laid out where they are stored."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import msgspec

from nodewright.decision.memory.consolidation import ConsolidationMemory
from nodewright.decision.memory.cooldown import CooldownMemory
from nodewright.decision.memory.demand import DemandMemory
from nodewright.decision.memory.health import HealthMemory
from nodewright.decision.memory.orders import OrderMemory
from nodewright.decision.memory.removals import RemovalMemory
from nodewright.decision.memory.slices import Slice
from nodewright.decision.memory.status import StatusMemory
from nodewright.decision.memory.templates import TemplateMemory
from nodewright.decision.memory.unneeded import UnneededMemory
from nodewright.decision.memory.verdicts import VerdictMemory

#: Where each field of the first stored form, which had no slices, is now.
PLACES = {
    "templates": ("learnt", "templates"),
    "backoffs": ("health", "backoffs"),
    "pools": ("health", "pools"),
    "shortages": ("health", "shortages"),
    "unregistered_since": ("health", "unregistered_since"),
    "failed_since": ("health", "failed_since"),
    "unhealthy_since": ("health", "unhealthy_since"),
    "requests": ("orders", "requests"),
    "intentions": ("orders", "intentions"),
    "turn": ("orders", "turn"),
    "removals": ("leaving", "removals"),
    "evictions": ("leaving", "evictions"),
    "unneeded_since": ("unneeded", "since"),
    "unremovable_until": ("unneeded", "unremovable_until"),
    "unexamined": ("unneeded", "unexamined"),
    "hints": ("unneeded", "hints"),
    "standings": ("verdicts", "last"),
    "changes": ("cooldown", "groups"),
    "last_scale_up": ("cooldown", "cluster", "grown"),
    "last_scale_down": ("cooldown", "cluster", "shrunk"),
    "last_scale_down_failure": ("cooldown", "cluster", "stuck"),
    "replacements": ("consolidation", "replacements"),
    "left_alone_until": ("consolidation", "left_alone_until"),
    "examined": ("consolidation", "examined"),
    "no_search_until": ("consolidation", "no_search_until"),
    "conditions": ("status", "conditions"),
}


@dataclass(frozen=True, kw_only=True)
class Memory:
    """All that survives a loop. Immutable: `decide` returns the next one."""

    learnt: TemplateMemory = field(default_factory=TemplateMemory)
    health: HealthMemory = field(default_factory=HealthMemory)
    demand: DemandMemory = field(default_factory=DemandMemory)
    orders: OrderMemory = field(default_factory=OrderMemory)
    leaving: RemovalMemory = field(default_factory=RemovalMemory)
    unneeded: UnneededMemory = field(default_factory=UnneededMemory)
    verdicts: VerdictMemory = field(default_factory=VerdictMemory)
    cooldown: CooldownMemory = field(default_factory=CooldownMemory)
    consolidation: ConsolidationMemory = field(default_factory=ConsolidationMemory)
    status: StatusMemory = field(default_factory=StatusMemory)

    def slices(self) -> dict[str, Slice]:
        """Return the slices by the names of their fields."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def after_absence(self) -> "Memory":
        """Return what is still worth something after no process looked at the cluster for a while."""
        return self._each(lambda each: each.after_absence())

    def without_times(self) -> "Memory":
        """Return what stays valid when the times in it can't be trusted."""
        return self._each(lambda each: each.without_times())

    def ever_smaller(self) -> Iterator[tuple["Memory", tuple[str, ...]]]:
        """Yield the memory as it is, and then with less and less in it; each time with the names of what is gone."""
        memory, gone = self, tuple[str, ...]()
        yield memory, gone
        sheds = [(shed, name) for name, each in self.slices().items() for shed in each.sheds]
        for shed, name in sorted(sheds, key=lambda entry: entry[0].cost):
            memory, gone = replace(memory, **{name: shed.take(getattr(memory, name))}), (*gone, shed.what)
            yield memory, gone

    def to_json(self) -> bytes:
        """Return the memory as JSON."""
        return msgspec.json.encode(self)

    @classmethod
    def from_json(cls, data: bytes) -> "Memory":
        """Read what `to_json` wrote, by this or a neighbouring version: unknown fields are ignored.

        Raises `ValueError` if *data* is damaged.
        """
        return msgspec.convert(in_slices(msgspec.json.decode(data, type=dict[str, Any])), cls)

    def _each(self, change: Callable[[Slice], Slice]) -> "Memory":
        changed: dict[str, Any] = {name: change(each) for name, each in self.slices().items()}
        return Memory(**changed)


def in_slices(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a *stored* memory as they are laid out today; the first form had no slices.

    Values stay what they are; only their places change.
    """
    laid_out: dict[str, Any] = {}
    for name, value in stored.items():
        if name not in PLACES:
            laid_out[name] = value
            continue
        place = laid_out
        *way, last = PLACES[name]
        for step in way:
            place = place.setdefault(step, {})
        place[last] = value
    return laid_out
