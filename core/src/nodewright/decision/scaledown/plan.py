"""The scale-down of one loop: which nodes start to go."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import datetime

from nodewright.api.decision import Drain
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.memory import CooldownMemory, Removal, RemovalMemory, UnneededMemory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown.confirmation import Confirmation
from nodewright.decision.scaledown.eligibility import find_candidates
from nodewright.decision.scaledown.removable import Removable
from nodewright.decision.scaledown.search import Found, search
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
    memory: UnneededMemory
    leaving: RemovalMemory


def plan_scale_down(
    world: World,
    apart: Set[str],
    memory: UnneededMemory,
    leaving: RemovalMemory,
    cooldown: CooldownMemory,
    simulation: ClusterSimulation,
    policy: Policy,
    now: datetime,
    *,
    pause: str = "",
    replaced: Sequence[Removable] = (),
) -> ScaleDownPlan:
    """Return which nodes start to go at *now*; those that are *apart* are not looked at.

    *simulation* has the pending pods placed; with consolidation it has unneeded nodes out afterwards. *pause* says why
    none must go in this loop, if so.
    Nodes that were *replaced* may go as well; what runs on them has its place in *simulation* already.
    """
    if not policy.settings.scale_down.enabled:
        return ScaleDownPlan(memory=memory.needed(), leaving=leaving)
    context = ProcessorContext(now=now, simulation=simulation, groups=world.groups)
    with policy.timings.time("findUnneeded"):
        candidates, verdicts = find_candidates(world, apart, memory, leaving, policy, context)
        deadline = policy.stopwatch() + policy.settings.scale_down.simulation_timeout.total_seconds()
        with simulation.fork():
            found = search(candidates, world, memory, simulation, policy, now, deadline=deadline)
    memory = _remember(found, verdicts, memory, policy, now)
    removable = [*found.removable, *replaced]
    with policy.timings.time("scaleDown"), Confirmation(simulation, found.removable) as confirm:
        selection = select(
            removable, world, memory, leaving, cooldown, policy, now, starting=apart, pause=pause, confirm=confirm
        )
    if policy.settings.scale_down.consolidation.enabled:
        found.relocation.repeat()
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
        memory=memory,
        leaving=leaving.begun(
            removals,
            sum(len(entry.move) for entry in selection.chosen),
            now,
            limited=bool(policy.settings.scale_down.disruption.max_evictions_per_hour),
        ),
    )


def _remember(
    found: Found, verdicts: Mapping[str, Verdict], memory: UnneededMemory, policy: Policy, now: datetime
) -> UnneededMemory:
    """Return *memory* with the timers of the nodes that could go, and those that can't left alone for a while.

    *verdicts* are on the nodes that were not looked for.
    """
    since = {entry.node.name: memory.since.get(entry.node.name, now) for entry in found.removable}
    # Whom nobody looked at, or could look at, keeps its time.
    unread = (name for name, verdict in verdicts.items() if verdict.reason is Reason.GROUP_FAULTY)
    unseen = [name for name in (*found.unexamined, *unread) if name in memory.since]
    since |= {name: memory.since[name] for name in unseen}
    recheck = now + policy.settings.scale_down.unremovable_recheck
    unexamined = frozenset(found.unexamined)
    stuck = {name: recheck for name in found.verdicts if name not in unexamined}
    hints = {
        **{name: memory.hints[name] for name in unseen if name in memory.hints},
        **{entry.node.name: entry.hints for entry in found.removable if entry.hints},
    }
    return memory.searched(since, stuck, found.unexamined, hints, now)


def _drain(entry: Removable) -> Drain:
    return Drain(
        node=entry.node.name,
        group=entry.group.id,
        pods=(*(pod.key for pod in entry.move), *entry.guests),
        verdict=entry.verdict,
    )
