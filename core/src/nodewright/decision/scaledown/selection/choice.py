"""Selection: which of the removable nodes begin to go in this loop."""

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
from nodewright.decision.scaledown.selection.budgets import disruption_budgets, eviction_limit, too_cheap
from nodewright.decision.scaledown.selection.floors import floors
from nodewright.decision.scaledown.selection.protection import protection
from nodewright.decision.world import World

#: Tells why nodes, which would go all together, can't go after all, given those chosen before; None if they can.
Confirm = Callable[[Sequence[Removable], Sequence[Removable]], Verdict | None]


@dataclass(kw_only=True)
class Selection:
    """The nodes that begin to go, and why each of the others does not yet."""

    chosen: list[Removable] = field(default_factory=list)
    #: The nodes that might, but for how many may go at once; in the order in which they are taken.
    removable_now: list[Removable] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def accept(_: Sequence[Removable], __: Sequence[Removable]) -> None:
    """Confirm whatever is chosen."""


def select(
    removable: Sequence[Removable],
    world: World,
    unneeded: UnneededMemory,
    leaving: RemovalMemory,
    cooldown: CooldownMemory,
    policy: Policy,
    now: datetime,
    *,
    starting: Set[str] = frozenset(),
    pause: str = "",
    confirm: Confirm = accept,
) -> Selection:
    """Return which of the *removable* nodes begin to go at *now*.

    First come groups that are used whole or not at all, in order of what they are worth; as for Cluster Autoscaler, one
    of them may have more nodes than may go at a time, as long as any may. Then the best set of all other nodes goes
    that is allowed beside them (`best.best_of`). Nodes that are *starting* count for nothing. *pause* says why none
    must go in this loop, if so. *confirm* is asked about each node, or group, once it is chosen; what it refuses stays,
    and others have its place.
    """
    selection = Selection()
    ripe = list(_ripe(removable, unneeded, cooldown, pause, policy, selection.verdicts, now))
    if ripe:
        allowances = _allowances(world, starting, leaving, policy, now)
        _Choice(ripe, allowances, selection, confirm).choose(world, leaving)
    return selection


def _ripe(
    removable: Sequence[Removable],
    memory: UnneededMemory,
    cooldown: CooldownMemory,
    pause: str,
    policy: Policy,
    verdicts: dict[str, Verdict],
    now: datetime,
) -> Iterator[Removable]:
    cooling: dict[str, str | None] = {}
    for entry in removable:
        name, options = entry.node.name, entry.group.options
        unneeded = memory.since.get(name, now)
        needed = options.scale_down_unneeded_time if entry.ready else options.scale_down_unready_time
        # As for Cluster Autoscaler, the time has to be over; no time is over at once.
        if needed and not entry.replaced and now <= unneeded + needed:
            verdicts[name] = _waiting(unneeded, needed, entry.ready)
            continue
        group = entry.group.id
        if group not in cooling:
            cooling[group] = pause or cooldown.pause(policy.settings.scale_down, now, group)
        verdict = _objection(entry, cooling[group], policy, now)
        if verdict is None:
            yield entry
        else:
            verdicts[name] = verdict


def _objection(entry: Removable, cooling: str | None, policy: Policy, now: datetime) -> Verdict | None:
    if cooling is not None:
        return Verdict(reason=Reason.COOLING_DOWN, detail=cooling)
    protected = protection(entry.node, now)
    if protected is not None:
        return protected
    cheap = too_cheap(entry, policy.settings.scale_down.disruption)
    if cheap is not None:
        return cheap
    veto = policy.hooks.veto_scale_down(entry.node, entry.group)
    return None if veto is None else Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")


@lru_cache(maxsize=4096)
def _waiting(since: datetime, needed: timedelta, ready: bool) -> Verdict:
    # Many nodes wait, since the same moment, and for as long in this loop as in the last.
    reason = Reason.NOT_LONG_ENOUGH if ready else Reason.NOT_UNREADY_LONG_ENOUGH
    until = since + needed
    return Verdict(reason=reason, detail=f"until {until:%H:%M:%S}, unneeded since {since:%H:%M:%S}", until=until)


def _allowances(world: World, starting: Set[str], memory: RemovalMemory, policy: Policy, now: datetime) -> Allowances:
    """Return what holds beside each other, in the order in which it is told to nodes that stay."""
    settings = policy.settings.scale_down
    leaving = Counter(removal.group for removal in memory.removals.values() if removal.deleted_at is None)
    evictions = eviction_limit(memory, settings.disruption, now)
    draining = sum(removal.drains or removal.evicting_since is not None for removal in memory.removals.values())
    shared = [
        *floors(world, starting, memory, policy.settings.limits),
        *disruption_budgets(world, memory, settings.disruption, now),
        *([] if evictions is None else [evictions]),
        Allowance(
            left=settings.max_drain_parallelism - draining,
            refusal=_busy(settings.max_drain_parallelism, " with pods to move"),
            draw=lambda entry: int(entry.drains),
            plain=True,
            parallel=True,
        ),
        Allowance(
            left=settings.max_parallelism - len(memory.removals),
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


def _busy(most: int, kind: str = "") -> Verdict:
    return Verdict(reason=Reason.BUDGET, detail=f"at most {most}{kind} at a time")


class _Choice:
    """Chooses from the nodes whose time has come."""

    def __init__(
        self, ripe: Sequence[Removable], allowances: Allowances, selection: Selection, confirm: Confirm
    ) -> None:
        #: In the order in which they were found.
        self._items = [Item(entry=entry, draws=allowances.draws(entry)) for entry in ripe]
        self._allowances = allowances
        self._selection = selection
        self._confirm = confirm

    def choose(self, world: World, memory: RemovalMemory) -> None:
        """Choose groups that go whole, then single nodes, and say why the others stay."""
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
        torn = self._choose_whole(whole, world, memory) if whole else frozenset()
        self._choose_single(single)
        self._selection.removable_now = list(self._might_go(left, torn))

    def _might_go(self, left: list[int], torn: frozenset[str]) -> Iterator[Removable]:
        """Yield the nodes that would go by what is *left*, as they came, if any number might be on their way at once.

        Of *torn* groups not all can go, so that none does.
        """
        chosen = {entry.node.name for entry in self._selection.chosen}
        might = set[str]()
        for item in sorted(self._items, key=lambda item: item.entry.node.name not in chosen):
            draws = [(index, amount) for index, amount in item.draws if not self._allowances.all[index].parallel]
            if item.entry.group.id in torn or any(amount > left[index] for index, amount in draws):
                continue
            for index, amount in draws:
                left[index] -= amount
            might.add(item.entry.node.name)
        return (item.entry for item in self._items if item.entry.node.name in might)

    def _choose_whole(self, groups: dict[str, list[Item]], world: World, memory: RemovalMemory) -> frozenset[str]:
        """Take the groups that can go as a whole; return those of which only a part could."""
        staying = Counter(group for name, group in world.group_of.items() if _stays(name, world, memory))
        leaving = Counter(removal.group for removal in memory.removals.values() if removal.deleted_at is None)
        may_exceed, torn = True, set[str]()
        for items in sorted(groups.values(), key=_rank):
            facts = items[0].entry.group
            if len(items) not in (staying[facts.id], facts.target_size - leaving[facts.id]):
                detail = f"{len(items)} of {staying[facts.id]} could go"
                self._refuse(items, Verdict(reason=Reason.NOT_WHOLE, detail=detail))
                torn.add(facts.id)
                continue
            lacking = self._lacking(items, may_exceed=may_exceed)
            if lacking is not None:
                self._refuse(items, lacking.refusal)
            elif self._take(items):
                may_exceed = False
        return frozenset(torn)

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


def _stays(name: str, world: World, memory: RemovalMemory) -> bool:
    return name in world.cluster.nodes and name not in memory.removals
