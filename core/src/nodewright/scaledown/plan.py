"""The scale-down of one loop: which nodes start to go."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nodewright.api.decision import Drain
from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.health.readiness import is_ready
from nodewright.memory import Memory, Removal
from nodewright.objects import Node
from nodewright.policy import Policy
from nodewright.scaledown.cooldown import cooldown
from nodewright.scaledown.drainability import judge
from nodewright.scaledown.eligibility import find_candidates
from nodewright.scheduling import ClusterSimulation
from nodewright.world import World


@dataclass(frozen=True, kw_only=True)
class ScaleDownPlan:
    """Nodes to drain, a verdict for every node, and what to remember."""

    drain: tuple[Drain, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
    memory: Memory


@dataclass(frozen=True, kw_only=True)
class _Removable:
    """A node that nobody would miss."""

    node: Node
    group: GroupFacts
    move: tuple[PodRow, ...]


def plan_scale_down(
    world: World,
    starting: Set[str],
    memory: Memory,
    simulation: ClusterSimulation,
    policy: Policy,
    now: datetime,
    *,
    pause: str = "",
) -> ScaleDownPlan:
    """Return which nodes start to go at *now*; those that are *starting* are not looked at.

    *simulation* has the pending pods placed and is used up here. *pause* says why none must go in this loop, if so.
    """
    if not policy.settings.scale_down.enabled:
        return ScaleDownPlan(memory=replace(memory, unneeded_since={}))
    groups = {facts.id: facts for facts in world.groups}
    context = ProcessorContext(now=now, simulation=simulation, groups=world.groups)
    candidates, verdicts = find_candidates(world, starting, memory, policy, groups, context)
    removable = _simulate(candidates, world, groups, simulation, policy, verdicts, now)
    since = {entry.node.name: memory.unneeded_since.get(entry.node.name, now) for entry in removable}
    recheck = now + policy.settings.scale_down.unremovable_recheck
    stuck = {node.name: recheck for node in candidates if node.name not in since and node.name in verdicts}
    memory = replace(
        memory,
        unneeded_since=since,
        unremovable_until={
            **{name: until for name, until in memory.unremovable_until.items() if now <= until},
            **stuck,
        },
    )
    cooling = pause or cooldown(memory, policy.settings.scale_down, now)
    ripe = [entry for entry in removable if _is_ripe(entry, since, world, cooling, policy, verdicts, now)]
    chosen = _select(_blocks(ripe, world, verdicts), memory, policy, verdicts)
    removals = {
        entry.node.name: Removal(
            group=entry.group.id, provider_id=entry.node.spec.provider_id, started=now, drains=bool(entry.move)
        )
        for entry in chosen
    }
    return ScaleDownPlan(
        drain=tuple(_drain(entry) for entry in chosen),
        nodes=verdicts,
        memory=replace(memory, removals={**memory.removals, **removals}),
    )


def _simulate(
    candidates: Sequence[Node],
    world: World,
    groups: dict[str, GroupFacts],
    simulation: ClusterSimulation,
    policy: Policy,
    verdicts: dict[str, Verdict],
    now: datetime,
) -> list[_Removable]:
    """Return the candidates that can all go together, empty ones first."""
    found = []
    judged = [
        (node, judge(world.cluster.pods_on(node.name), world.cluster.budgets.values(), policy.settings.scale_down, now))
        for node in candidates
    ]
    for node, drainable in sorted(judged, key=lambda entry: bool(entry[1].move or entry[1].blocker)):
        if drainable.blocker is not None:
            verdicts[node.name] = drainable.blocker
            continue
        # What this loop has put on the node so far has to go on with the rest.
        leaving = [PodSet(pod=row.pod_class.pod, keys=(row.key,)) for row in drainable.move] + simulation.guests(
            node.name
        )
        homeless = _move(leaving, node, simulation)
        if homeless is not None:
            verdicts[node.name] = Verdict(reason=Reason.NO_PLACE, detail=homeless)
            continue
        group = groups[world.group_of[node.name]]
        found.append(_Removable(node=node, group=group, move=drainable.move))
        verdicts[node.name] = _unneeded(drainable.move)
    return found


def _move(leaving: Sequence[PodSet], node: Node, simulation: ClusterSimulation) -> str | None:
    """Move pods off *node* in the simulation and take it out; or change nothing and return one that can't move."""
    with simulation.fork() as fork:
        fork.remove_nodes([node.name])
        for pods in leaving:
            if not fork.place(pods):
                return pods.keys[0]
        fork.keep()
    return None


def _unneeded(move: Sequence[PodRow]) -> Verdict:
    if not move:
        return Verdict(reason=Reason.EMPTY)
    return Verdict(reason=Reason.MOVABLE, detail=f"{len(move)} pods" if len(move) > 1 else move[0].key)


def _is_ripe(
    entry: _Removable,
    since: dict[str, datetime],
    world: World,
    cooling: str | None,
    policy: Policy,
    verdicts: dict[str, Verdict],
    now: datetime,
) -> bool:
    name = entry.node.name
    options = entry.group.options
    ready = is_ready(entry.node, world, policy.settings.templates)
    needed = options.scale_down_unneeded_time if ready else options.scale_down_unready_time
    waited = now - since[name]
    if waited < needed:
        verdicts[name] = Verdict(reason=Reason.NOT_LONG_ENOUGH, detail=f"{_seconds(waited)} of {_seconds(needed)}")
        return False
    if cooling is not None:
        verdicts[name] = Verdict(reason=Reason.COOLING_DOWN, detail=cooling)
        return False
    veto = policy.hooks.veto_scale_down(entry.node, entry.group)
    if veto is not None:
        verdicts[name] = Verdict(reason=Reason.VETOED, detail=f"{veto.plugin}: {veto.reason}")
        return False
    return True


def _blocks(ripe: Sequence[_Removable], world: World, verdicts: dict[str, Verdict]) -> list[list[_Removable]]:
    """Return *ripe* nodes in blocks that go together: groups that are used whole, then all others one by one."""
    of_group: dict[str, list[_Removable]] = {}
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


def _select(
    blocks: Sequence[list[_Removable]], memory: Memory, policy: Policy, verdicts: dict[str, Verdict]
) -> list[_Removable]:
    """Return the nodes that go now, within the minimum sizes of their groups and the budgets of parallel removals."""
    settings = policy.settings.scale_down
    room = settings.max_parallelism - len(memory.removals)
    drains = settings.max_drain_parallelism - sum(
        1 for removal in memory.removals.values() if removal.drains or removal.evicting_since is not None
    )
    leaving: dict[str, int] = {}
    for removal in memory.removals.values():
        if removal.deleted_at is None:
            leaving[removal.group] = leaving.get(removal.group, 0) + 1
    chosen: list[_Removable] = []
    for block in blocks:
        group, size = block[0].group, len(block)
        moving = sum(1 for entry in block if entry.move)
        verdict = None
        if group.target_size - leaving.get(group.id, 0) - size < group.min_size:
            verdict = Verdict(reason=Reason.GROUP_AT_MIN, detail=str(group.min_size))
        elif room < size or moving > max(0, drains):
            verdict = Verdict(reason=Reason.BUDGET)
        if verdict is not None:
            verdicts.update({entry.node.name: verdict for entry in block})
            continue
        room -= size
        drains -= moving
        leaving[group.id] = leaving.get(group.id, 0) + size
        chosen += block
    return chosen


def _drain(entry: _Removable) -> Drain:
    return Drain(
        node=entry.node.name,
        group=entry.group.id,
        pods=tuple(pod.key for pod in entry.move),
        verdict=_unneeded(entry.move),
    )


def _seconds(span: timedelta) -> str:
    return f"{span.total_seconds():.0f}s"
