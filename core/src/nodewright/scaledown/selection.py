"""Selection: which of the removable nodes begin to go in this loop."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.memory import Memory
from nodewright.policy import Policy
from nodewright.scaledown.cooldown import cooldown
from nodewright.scaledown.removable import Removable
from nodewright.world import World


@dataclass(kw_only=True)
class Selection:
    """The nodes that begin to go, and why each of the others does not yet."""

    chosen: list[Removable] = field(default_factory=list)
    verdicts: dict[str, Verdict] = field(default_factory=dict)


def select(
    removable: Sequence[Removable], world: World, memory: Memory, policy: Policy, now: datetime, *, pause: str = ""
) -> Selection:
    """Return which of the *removable* nodes begin to go at *now*; *memory* knows since when each is unneeded.

    *pause* says why none must go in this loop, if so.
    """
    selection = Selection()
    cooling = pause or cooldown(memory, policy.settings.scale_down, now)
    ripe = [entry for entry in removable if _is_ripe(entry, memory, cooling, policy, selection.verdicts, now)]
    _choose(_blocks(ripe, world, selection.verdicts), memory, policy, selection)
    return selection


def _is_ripe(
    entry: Removable,
    memory: Memory,
    cooling: str | None,
    policy: Policy,
    verdicts: dict[str, Verdict],
    now: datetime,
) -> bool:
    name = entry.node.name
    options = entry.group.options
    needed = options.scale_down_unneeded_time if entry.ready else options.scale_down_unready_time
    waited = now - memory.unneeded_since[name]
    if waited < needed:
        verdicts[name] = Verdict(reason=Reason.NOT_LONG_ENOUGH, detail=f"{_seconds(waited)} of {_seconds(needed)}")
        return False
    if cooling is not None:
        verdicts[name] = Verdict(reason=Reason.COOLING_DOWN, detail=cooling)
        return False
    if entry.waits:
        verdicts[name] = Verdict(reason=Reason.BLOCKED_ON_COMPLETION, detail=entry.waits[0].key)
        return False
    veto = policy.hooks.veto_scale_down(entry.node, entry.group)
    if veto is not None:
        verdicts[name] = Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")
        return False
    return True


def _blocks(ripe: Sequence[Removable], world: World, verdicts: dict[str, Verdict]) -> list[list[Removable]]:
    """Return *ripe* nodes in blocks that go together: groups that are used whole, then all others one by one."""
    of_group: dict[str, list[Removable]] = {}
    single = []
    for entry in ripe:
        if entry.group.options.zero_or_max_node_scaling:
            of_group.setdefault(entry.group.id, []).append(entry)
        else:
            single.append([entry])
    whole = []
    for group, entries in of_group.items():
        members = sum(1 for name, other in world.group_of.items() if other == group and name in world.cluster.nodes)
        if len(entries) == members:
            whole.append(entries)
        else:
            torn = Verdict(reason=Reason.NOT_WHOLE, detail=f"{len(entries)} of {members} could go")
            verdicts.update({entry.node.name: torn for entry in entries})
    return whole + single


def _choose(blocks: Sequence[list[Removable]], memory: Memory, policy: Policy, selection: Selection) -> None:
    """Take the nodes that go now, within the minimum sizes of their groups and the budgets of parallel removals."""
    settings = policy.settings.scale_down
    room = settings.max_parallelism - len(memory.removals)
    drains = settings.max_drain_parallelism - sum(
        1 for removal in memory.removals.values() if removal.drains or removal.evicting_since is not None
    )
    leaving: dict[str, int] = {}
    for removal in memory.removals.values():
        if removal.deleted_at is None:
            leaving[removal.group] = leaving.get(removal.group, 0) + 1
    for block in blocks:
        group, size = block[0].group, len(block)
        moving = sum(1 for entry in block if entry.drains)
        verdict = None
        if group.target_size - leaving.get(group.id, 0) - size < group.min_size:
            verdict = Verdict(reason=Reason.GROUP_AT_MIN, detail=str(group.min_size))
        elif room < size or moving > max(0, drains):
            verdict = Verdict(reason=Reason.BUDGET)
        if verdict is not None:
            selection.verdicts.update({entry.node.name: verdict for entry in block})
            continue
        room -= size
        drains -= moving
        leaving[group.id] = leaving.get(group.id, 0) + size
        selection.chosen += block


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}s"
