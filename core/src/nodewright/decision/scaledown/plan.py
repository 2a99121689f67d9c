"""The scale-down of one loop: which nodes start to go."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from nodewright.api.decision import Drain
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import Memory, Removal
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.confirmation import Confirmation
from nodewright.decision.scaledown.eligibility import find_candidates
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.search import Found, search
from nodewright.decision.scaledown.selection.budgets import with_evictions
from nodewright.decision.scaledown.selection.choice import select
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation


@dataclass(frozen=True, kw_only=True)
class ScaleDownPlan:
    """Nodes to drain, a verdict for every node, and what to remember."""

    drain: tuple[Drain, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
    #: Nodes that might start to go but for how many may go at once, in order.
    removable_now: tuple[Removable, ...] = ()
    memory: Memory


def plan_scale_down(
    world: World,
    starting: Set[str],
    memory: Memory,
    simulation: ClusterSimulation,
    policy: Policy,
    now: datetime,
    *,
    pause: str = "",
    replaced: Sequence[Removable] = (),
) -> ScaleDownPlan:
    """Return which nodes start to go at *now*; those that are *starting* are not looked at.

    *simulation* has the pending pods placed; with consolidation it has unneeded nodes out afterwards. *pause* says why
    none must go in this loop, if so.
    Nodes that were *replaced* may go as well; what runs on them has its place in *simulation* already.
    """
    if not policy.settings.scale_down.enabled:
        return ScaleDownPlan(memory=replace(memory, unneeded_since={}))
    groups = {facts.id: facts for facts in world.groups}
    context = ProcessorContext(now=now, simulation=simulation, groups=world.groups)
    with policy.stages.time("findUnneeded"):
        candidates, verdicts = find_candidates(world, starting, memory, policy, groups, context)
        deadline = policy.stopwatch() + policy.settings.scale_down.simulation_timeout.total_seconds()
        with simulation.fork():
            found = search(candidates, world, memory, simulation, policy, now, deadline=deadline)
    memory = _remember(found, verdicts, memory, policy, now)
    removable = [*found.removable, *replaced]
    with policy.stages.time("scaleDown"), Confirmation(simulation, found.removable) as confirm:
        selection = select(removable, world, memory, policy, now, starting=starting, pause=pause, confirm=confirm)
    if policy.settings.scale_down.consolidation.enabled:
        found.relocation.repeat()
    memory = with_evictions(memory, selection.chosen, policy.settings.scale_down.disruption, now)
    removals = {
        entry.node.name: Removal(
            group=entry.group.id, provider_id=entry.node.spec.provider_id, started=now, drains=entry.drains
        )
        for entry in selection.chosen
    }
    return ScaleDownPlan(
        drain=tuple(_drain(entry) for entry in selection.chosen),
        nodes=verdicts | found.verdicts | {entry.node.name: entry.verdict for entry in removable} | selection.verdicts,
        removable_now=tuple(selection.removable_now),
        memory=replace(memory, removals={**memory.removals, **removals}),
    )


def _remember(found: Found, verdicts: Mapping[str, Verdict], memory: Memory, policy: Policy, now: datetime) -> Memory:
    """Return *memory* with the timers of the nodes that could go, and those that can't left alone for a while.

    *verdicts* are on the nodes that were not looked for.
    """
    since = {entry.node.name: memory.unneeded_since.get(entry.node.name, now) for entry in found.removable}
    # Whom nobody looked at, or could look at, keeps its time.
    unread = (name for name, verdict in verdicts.items() if verdict.reason is Reason.GROUP_FAULTY)
    unseen = [name for name in (*found.unexamined, *unread) if name in memory.unneeded_since]
    since |= {name: memory.unneeded_since[name] for name in unseen}
    recheck = now + policy.settings.scale_down.unremovable_recheck
    unexamined = frozenset(found.unexamined)
    stuck = {name: recheck for name in found.verdicts if name not in unexamined}
    known = {name: until for name, until in memory.unremovable_until.items() if now <= until}
    return replace(
        memory,
        unneeded_since=since,
        unremovable_until={**known, **stuck},
        unexamined=found.unexamined,
        hints={
            **{name: memory.hints[name] for name in unseen if name in memory.hints},
            **{entry.node.name: entry.hints for entry in found.removable if entry.hints},
        },
    )


def _drain(entry: Removable) -> Drain:
    return Drain(
        node=entry.node.name,
        group=entry.group.id,
        pods=(*(pod.key for pod in entry.move), *entry.guests),
        verdict=entry.verdict,
    )
