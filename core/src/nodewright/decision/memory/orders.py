"""Orders: machines that clouds were asked for, and what they are meant for."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Self

from nodewright.api.decision import Grow
from nodewright.decision.memory.slices import Slice


@dataclass(frozen=True, kw_only=True)
class ScaleUpRequest:
    """Machines that a group was asked for and that are not all nodes yet."""

    at: datetime
    count: int
    #: False if somebody else asked for them: they are waited for, but not counted on before they exist.
    ours: bool = True
    #: In stored memory: the size that the group was to get by a call that was not answered yet; 0 if all were.
    unanswered: int = 0


@dataclass(frozen=True, kw_only=True)
class Intention:
    """Pods that were placed on machines when these were ordered."""

    group: str
    #: Tells pods of one controller that are otherwise alike from all others.
    kind: str
    count: int


@dataclass(frozen=True, kw_only=True)
class OrderMemory(Slice):
    """Open orders. Owned by growth: `placed` when machines are asked for, `followed` when their group is assessed."""

    #: By group.
    requests: dict[str, ScaleUpRequest] = field(default_factory=dict)
    #: What the machines of open requests are meant for, in the order in which pods were placed.
    intentions: tuple[Intention, ...] = ()
    #: How many ways to grow were taken so far: equally good ones take turns.
    turn: int = 0

    def followed(self, requests: dict[str, ScaleUpRequest]) -> Self:
        """Return the orders that are still open: *requests*."""
        return replace(self, requests=requests)

    def placed(self, grow: Iterable[Grow], intentions: Iterable[Intention], taken: int, now: datetime) -> Self:
        """Return the orders with those that *grow* gives at *now*; *taken* options stand behind them.

        Forgets the intentions of orders that are closed.
        """
        known = tuple(each for each in self.intentions if each.group in self.requests)
        raised = self.raised({order.group: order.count for order in grow}, now)
        return replace(raised, intentions=(*known, *intentions), turn=self.turn + taken)

    def raised(self, counts: Mapping[str, int], now: datetime) -> Self:
        """Return the orders with so many more machines by group, asked for at *now*."""
        if not counts:
            return self
        requests = dict(self.requests)
        for group, count in counts.items():
            before = requests.get(group)
            requests[group] = ScaleUpRequest(at=now, count=(before.count if before else 0) + count)
        return replace(self, requests=requests)

    def ordered(self, group: str, count: int, now: datetime) -> Self:
        """Return the orders with *count* machines of *group*, which has no open order, that replace others."""
        return replace(self, requests={**self.requests, group: ScaleUpRequest(at=now, count=count)})

    def adopted(self, counts: Mapping[str, int], now: datetime) -> Self:
        """Return the orders with *counts* machines by group, as if they were given at *now*: it is not known when."""
        adopted = {group: ScaleUpRequest(at=now, count=count) for group, count in counts.items()}
        return replace(self, requests={**self.requests, **adopted})

    def reverted(self, before: Self, groups: Collection[str]) -> Self:
        """Return the orders without those of *groups* that were given since *before*: they were certainly not taken."""
        requests = {group: known for group, known in self.requests.items() if group not in groups}
        requests |= {group: before.requests[group] for group in groups if group in before.requests}
        kept = [each for each in self.intentions if each.group not in groups]
        kept += [each for each in before.intentions if each.group in groups]
        return replace(self, requests=requests, intentions=tuple(kept))

    def with_turn(self, turn: int) -> Self:
        """Return the orders with another *turn*."""
        return replace(self, turn=turn)

    def unanswered(self, sizes: Mapping[str, int]) -> Self:
        """Return the orders with a note that calls for these *sizes* may be under way."""
        asked = {
            group: replace(self.requests[group], unanswered=size)
            for group, size in sizes.items()
            if size and group in self.requests
        }
        return replace(self, requests={**self.requests, **asked}) if asked else self

    def answered(self, groups: Collection[str]) -> Self:
        """Return the orders without that note for *groups*."""
        if not groups:
            return self
        answered = {group: replace(self.requests[group], unanswered=0) for group in groups}
        return replace(self, requests={**self.requests, **answered})

    def joined(self, other: Self, groups: Collection[str]) -> Self:
        """Return the orders with those that *other* has of *groups*, its turn, and its intentions for what is open."""
        requests = {**self.requests, **{group: each for group, each in other.requests.items() if group in groups}}
        intentions = tuple(each for each in other.intentions if each.group in requests)
        return replace(self, requests=requests, intentions=intentions, turn=other.turn)

    def after_absence(self) -> Self:
        """Forget all orders: what is still on its way is found in the cloud, and gets its full time again."""
        return replace(self, requests={}, intentions=())

    def without_times(self) -> Self:
        """Keep the turn."""
        return replace(self, requests={}, intentions=())
