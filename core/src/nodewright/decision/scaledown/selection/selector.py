"""Selection: which of the removable nodes are removed from this loop on."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache

from nodewright.api.group import GroupFacts
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import CooldownMemory, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.selection.allowance import Allowance, Allowances
from nodewright.decision.scaledown.selection.best import Item, best_of, in_order, worth_of
from nodewright.decision.scaledown.selection.budgets import DisruptionBudgets
from nodewright.decision.scaledown.selection.floors import Floors
from nodewright.decision.scaledown.selection.protection import pause_of, protection
from nodewright.decision.world import World
from nodewright.objects.node import TO_BE_DELETED

#: Returns why some nodes, which go together or not at all, can't go beside those chosen before; None if they can.
Confirm = Callable[[Sequence[Removable], Sequence[Removable]], Verdict | None]


@dataclass(kw_only=True)
class Selection:
    """The nodes whose removal starts, and why that of the others does not yet."""

    chosen: list[Removable] = field(default_factory=list)
    #: The nodes whose removal could start if their number were not limited, in the order in which they are taken.
    removable_now: list[Removable] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def accept(_: Sequence[Removable], __: Sequence[Removable]) -> None:
    """Confirm any choice."""


class Selector:
    """Selects nodes whose removal starts at *now*, by what is remembered of them and of the removals under way."""

    def __init__(
        self,
        world: World,
        unneeded: UnneededMemory,
        leaving: RemovalMemory,
        cooldown: CooldownMemory,
        policy: Policy,
        now: datetime,
    ) -> None:
        self._world = world
        self._unneeded = unneeded
        self._leaving = leaving
        self._cooldown = cooldown
        self._policy = policy
        self._settings = policy.settings.scale_down
        self._now = now
        self._budgets = DisruptionBudgets(world, leaving, self._settings.disruption, now)

    def select(
        self,
        removable: Sequence[Removable],
        *,
        starting: Set[str] = frozenset(),
        pause: str = "",
        confirm: Confirm = accept,
    ) -> Selection:
        """Return which of the *removable* nodes' removals start.

        Groups that are used whole or not at all come first, ordered by their worth. As in Cluster Autoscaler, one of
        them may have more nodes than may go at a time, as long as any may. The best set of all other nodes that is
        allowed beside them follows (`best.best_of`). Nodes that are *starting* don't count. *pause* is the reason why
        no node may go in this loop, if there is one. *confirm* is called for each node, or whole group, once it is
        chosen: what it refuses stays, and others take its place.
        """
        selection = Selection()
        due = list(self._due(removable, pause, selection.verdicts))
        if due:
            nodes = _DueNodes(due, self._allowances(starting), selection, confirm)
            nodes.choose(self._world, self._leaving)
        return selection

    def _due(self, removable: Sequence[Removable], pause: str, verdicts: dict[str, Verdict]) -> Iterator[Removable]:
        """Yield the nodes whose time has come. Why the others have to wait is added to *verdicts*."""
        pauses: dict[str, str | None] = {}
        for entry in removable:
            name, options = entry.node.name, entry.group.options
            since = self._unneeded.since.get(name, self._now)
            needed = options.scale_down_unneeded_time if entry.ready else options.scale_down_unready_time
            # As in Cluster Autoscaler, the time has to be over; a time of zero is over at once.
            if needed and not entry.replaced and self._now <= since + needed:
                verdicts[name] = _waiting(since, needed, entry.ready)
                continue
            group = entry.group.id
            if group not in pauses:
                pauses[group] = pause or self._cooldown.pause(self._settings, self._now, group)
            verdict = self._objection(entry, pauses[group])
            if verdict is None:
                yield entry
            else:
                verdicts[name] = verdict

    def _objection(self, entry: Removable, pause: str | None) -> Verdict | None:
        if pause is not None:
            return Verdict(reason=Reason.COOLING_DOWN, detail=pause)
        if (paused := pause_of(entry.group)) is not None:
            return paused
        if entry.node.taint(TO_BE_DELETED) is not None:
            # The mark is on its way off.
            return Verdict(reason=Reason.LEFTOVER)
        protected = protection(entry.node, self._now)
        if protected is not None:
            return protected
        cheap = self._budgets.too_cheap(entry)
        if cheap is not None:
            return cheap
        veto = self._policy.hooks.veto_scale_down(entry.node, entry.group, self._now)
        return None if veto is None else Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")

    def _allowances(self, starting: Set[str]) -> Allowances:
        """Return all allowances, in the order in which nodes that stay are given them as a reason."""
        settings, removals = self._settings, self._leaving.removals
        leaving = Counter(removal.group for removal in removals.values() if removal.deleted_at is None)
        draining = sum(removal.drains or removal.evicting_since is not None for removal in removals.values())
        shared = [
            *Floors(self._world, starting, self._leaving).allowances(self._policy.settings.limits),
            *self._budgets.allowances(),
            Allowance(
                left=settings.max_drain_parallelism - draining,
                refusal=_busy(settings.max_drain_parallelism, " with pods to move"),
                draw=lambda entry: int(entry.drains),
                plain=True,
                parallel=True,
            ),
            Allowance(
                left=settings.max_parallelism - len(removals),
                refusal=_busy(settings.max_parallelism),
                plain=True,
                parallel=True,
                for_all=True,
            ),
        ]

        def of_group(facts: GroupFacts) -> Allowance:
            return Allowance(
                left=facts.target_size - leaving[facts.id] - facts.min_size,
                refusal=Verdict(reason=Reason.GROUP_AT_MIN, detail=f"at least {facts.min_size}"),
                plain=True,
                lasting=True,
            )

        return Allowances(shared, of_group)


@lru_cache(maxsize=4096)
def _waiting(since: datetime, needed: timedelta, ready: bool) -> Verdict:
    # Many nodes wait, since the same moment, and for as long in this loop as in the last.
    reason = Reason.NOT_LONG_ENOUGH if ready else Reason.NOT_UNREADY_LONG_ENOUGH
    until = since + needed
    return Verdict(reason=reason, detail=f"until {until:%H:%M:%S}, unneeded since {since:%H:%M:%S}", until=until)


def _busy(most: int, which: str = "") -> Verdict:
    return Verdict(reason=Reason.BUDGET, detail=f"at most {most}{which} at a time")


class _DueNodes:
    """The nodes whose time has come, and the choice among them."""

    def __init__(
        self, due: Sequence[Removable], allowances: Allowances, selection: Selection, confirm: Confirm
    ) -> None:
        #: In the order in which they were found.
        self._items = [Item(entry=entry, draws=allowances.draws(entry)) for entry in due]
        self._allowances = allowances
        self._selection = selection
        self._confirm = confirm

    def choose(self, world: World, leaving: RemovalMemory) -> None:
        """Choose groups that go whole, then single nodes, and note why the others stay."""
        single, whole = [], dict[str, list[Item]]()
        for item in in_order(self._items):
            group, waits = item.entry.group, item.entry.waits
            if waits:
                self._refuse([item], Verdict(reason=Reason.BLOCKED_ON_COMPLETION, pod=waits[0].key))
            elif group.options.zero_or_max_node_scaling:
                whole.setdefault(group.id, []).append(item)
            else:
                single.append(item)
        left = list(self._allowances.left)
        incomplete = self._choose_whole(whole, world, leaving) if whole else frozenset()
        self._choose_single(single)
        self._selection.removable_now = list(self._might_go(left, incomplete))

    def _might_go(self, left: list[int], incomplete: frozenset[str]) -> Iterator[Removable]:
        """Yield the nodes, as they came, that could go by what is *left* if any number might be on their way at once.

        Groups that are used whole but are *incomplete* keep all their nodes.
        """
        chosen = {entry.node.name for entry in self._selection.chosen}
        might = set[str]()
        for item in sorted(self._items, key=lambda item: item.entry.node.name not in chosen):
            draws = [(index, amount) for index, amount in item.draws if not self._allowances.all[index].parallel]
            if item.entry.group.id in incomplete or any(amount > left[index] for index, amount in draws):
                continue
            for index, amount in draws:
                left[index] -= amount
            might.add(item.entry.node.name)
        return (item.entry for item in self._items if item.entry.node.name in might)

    def _choose_whole(self, groups: dict[str, list[Item]], world: World, leaving: RemovalMemory) -> frozenset[str]:
        """Take the groups that can go as a whole, and return those of which only a part could."""
        staying = Counter(
            group
            for name, group in world.group_of.items()
            if name in world.cluster.nodes and name not in leaving.removals
        )
        going = Counter(removal.group for removal in leaving.removals.values() if removal.deleted_at is None)
        may_exceed, incomplete = True, set[str]()
        for items in sorted(groups.values(), key=_rank):
            facts = items[0].entry.group
            if len(items) not in (staying[facts.id], facts.target_size - going[facts.id]):
                detail = f"{len(items)} of {staying[facts.id]} could go"
                self._refuse(items, Verdict(reason=Reason.NOT_WHOLE, detail=detail))
                incomplete.add(facts.id)
                continue
            lacking = self._lacking(items, may_exceed=may_exceed)
            if lacking is not None:
                self._refuse(items, lacking.refusal)
                if not lacking.parallel:
                    incomplete.add(facts.id)
            elif self._take(items):
                may_exceed = False
        return frozenset(incomplete)

    def _lacking(self, items: Sequence[Item], *, may_exceed: bool) -> Allowance | None:
        total = Counter[int]()
        for item in items:
            total.update(dict(item.draws))
        for index, amount in total.items():
            allowance, left = self._allowances.all[index], self._allowances.left[index]
            exceeds = may_exceed and allowance.parallel and left > 0
            if amount > left and not exceeds:
                return allowance
        return None

    def _choose_single(self, items: list[Item]) -> None:
        refused = True
        while refused:
            refused = False
            picked = best_of(items, self._allowances.left, self._allowances.all)
            for item in picked:
                refused = not self._take([item]) or refused
            done = set(map(id, picked))
            items = [item for item in items if id(item) not in done]
        left_out = set(map(id, items))
        items = [item for item in self._items if id(item) in left_out]
        for item, verdict in zip(items, self._allowances.refusals(item.draws for item in items), strict=True):
            if verdict is not None:
                self._refuse([item], verdict)

    def _take(self, items: Sequence[Item]) -> bool:
        entries = [item.entry for item in items]
        verdict = self._confirm(entries, tuple(self._selection.chosen))
        if verdict is not None:
            self._refuse(items, verdict)
            return False
        for item in items:
            self._allowances.take(item.draws)
        self._selection.chosen += entries
        return True

    def _refuse(self, items: Sequence[Item], verdict: Verdict) -> None:
        self._selection.verdicts.update({item.entry.node.name: verdict for item in items})


def _rank(items: Sequence[Item]) -> tuple[object, ...]:
    _, others, risky, disrupted, saved = worth_of(items)
    return (others > 0, -risky, -disrupted, -saved, items[0].entry.group.id)
