"""The scale-down of one loop: which nodes start to go."""

from collections.abc import Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime

from nodewright.api.decision import Drain
from nodewright.api.option import PodSet
from nodewright.api.processor import ProcessorContext
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.cluster import PodRow
from nodewright.health.readiness import is_ready
from nodewright.memory import Memory, Removal
from nodewright.objects import Node
from nodewright.policy import Policy
from nodewright.scaledown.drainability import judge
from nodewright.scaledown.eligibility import find_candidates
from nodewright.scaledown.removable import Removable
from nodewright.scaledown.selection import select
from nodewright.scheduling import ClusterSimulation
from nodewright.world import World


@dataclass(frozen=True, kw_only=True)
class ScaleDownPlan:
    """Nodes to drain, a verdict for every node, and what to remember."""

    drain: tuple[Drain, ...] = ()
    nodes: dict[str, Verdict] = field(default_factory=dict)
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

    *simulation* has the pending pods placed and is used up here. *pause* says why none must go in this loop, if so.
    Nodes that were *replaced* may go as well; what runs on them has its place in *simulation* already.
    """
    if not policy.settings.scale_down.enabled:
        return ScaleDownPlan(memory=replace(memory, unneeded_since={}))
    groups = {facts.id: facts for facts in world.groups}
    context = ProcessorContext(now=now, simulation=simulation, groups=world.groups)
    candidates, verdicts = find_candidates(world, starting, memory, policy, groups, context)
    removable = _simulate(candidates, world, simulation, policy, verdicts, now)
    memory = _remember(candidates, removable, verdicts, memory, policy, now)
    removable += replaced
    selection = select(removable, world, memory, policy, now, pause=pause)
    removals = {
        entry.node.name: Removal(
            group=entry.group.id, provider_id=entry.node.spec.provider_id, started=now, drains=bool(entry.move)
        )
        for entry in selection.chosen
    }
    return ScaleDownPlan(
        drain=tuple(_drain(entry) for entry in selection.chosen),
        nodes=verdicts | {entry.node.name: entry.verdict for entry in removable} | selection.verdicts,
        memory=replace(memory, removals={**memory.removals, **removals}),
    )


def _remember(
    candidates: Sequence[Node],
    removable: Sequence[Removable],
    verdicts: dict[str, Verdict],
    memory: Memory,
    policy: Policy,
    now: datetime,
) -> Memory:
    """Return *memory* with the timers of the nodes that could go, and those that can't left alone for a while."""
    since = {entry.node.name: memory.unneeded_since.get(entry.node.name, now) for entry in removable}
    recheck = now + policy.settings.scale_down.unremovable_recheck
    stuck = {node.name: recheck for node in candidates if node.name not in since and node.name in verdicts}
    known = {name: until for name, until in memory.unremovable_until.items() if now <= until}
    return replace(memory, unneeded_since=since, unremovable_until={**known, **stuck})


def _simulate(
    candidates: Sequence[Node],
    world: World,
    simulation: ClusterSimulation,
    policy: Policy,
    verdicts: dict[str, Verdict],
    now: datetime,
) -> list[Removable]:
    """Return the candidates that can all go together, empty ones first."""
    groups = {facts.id: facts for facts in world.groups}
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
        found.append(
            Removable(
                node=node,
                group=groups[world.group_of[node.name]],
                move=drainable.move,
                verdict=_unneeded(drainable.move),
                ready=is_ready(node, world, policy.settings.templates),
            )
        )
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


def _drain(entry: Removable) -> Drain:
    return Drain(
        node=entry.node.name,
        group=entry.group.id,
        pods=tuple(pod.key for pod in entry.move),
        verdict=entry.verdict,
    )
