"""The one function: what is, what is remembered and what is wanted go in; what to do, and why, comes out."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from nodewright.api.decision import Decision, DeleteInstances, Shrink
from nodewright.api.verdict import Verdict
from nodewright.decision.demand.pending import in_turn
from nodewright.decision.findings import Particulars
from nodewright.decision.health import Assessment, assess
from nodewright.decision.memory import Memory, ScaleUpRequest
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown import (
    Consolidation,
    coming_back,
    consolidate,
    follow_replacements,
    plan_removals,
    plan_scale_down,
    spoken_for,
    waiting,
)
from nodewright.decision.scaledown.removal.soft_taints import plan_soft_taints
from nodewright.decision.scaledown.selection.cooldown import changed
from nodewright.decision.scaledown.standing import note_standings
from nodewright.decision.scaleup import ScaleUpPlan, plan_scale_up, recall
from nodewright.decision.scaleup.limits import Limits
from nodewright.decision.scaleup.minimum import grow_to_minimum
from nodewright.decision.templates import choose_templates
from nodewright.decision.world import World
from nodewright.scheduling import ClusterSimulation


def decide(
    world: World, memory: Memory, policy: Policy, now: datetime, particulars: Particulars | None = None
) -> tuple[Decision, Memory]:
    """Return what to do about *world* at *now*, and what to remember for the next time.

    Pure: no clock, no network, no chance but what the policy's seed and *now* make of it; only expanders that say so
    ask outside, and not even they if the policy has their answers. Raises nothing: a plugin that fails is left out and
    noted with the policy's faults. *particulars* are filled in if they are given.
    """
    with world.cluster.fork():
        return _decide(_prepare(world, policy), memory, policy, now, particulars)


def decide_growth(world: World, memory: Memory, policy: Policy, now: datetime) -> tuple[Decision, Memory]:
    """Return how else to grow in a loop in which growth failed, and what to remember; nothing else is decided.

    *world* is as it is after what did succeed and has the outcomes of the growth, *memory* is without what failed: see
    `nodewright.decision.aftermath`. A group that failed for good is backed off. Pure, as `decide`.
    """
    with world.cluster.fork():
        world = _prepare(world, policy)
        templates = choose_templates(world, memory, policy, now)
        world = replace(world, groups=templates.groups)
        health = assess(world, templates.memory, policy, now)
        if health.halted is not None:
            return _halt(Decision(at=now), world, health.halted, policy), health.memory
        with policy.stages.time("scaleUp"):
            scale_up = _plan_growth(world, health, health.memory, policy, now).plan
        # When to look again was decided with everything else.
        decision = replace(_with_growth(Decision(at=now, learnt=templates.learnt), scale_up), again=None)
        return decision, _remember_growth(health.memory, scale_up, now)


def _prepare(world: World, policy: Policy) -> World:
    """Return *world* with its pods settled and the groups that decisions see; for the inside of a fork.

    From here on, the options of a group are those in effect.
    """
    _settle_pods(world, policy)
    groups = policy.hooks.adjust_groups(world.groups)
    return replace(world, groups=tuple(replace(facts, options=policy.options_of(facts)) for facts in groups))


def _decide(
    world: World, memory: Memory, policy: Policy, now: datetime, particulars: Particulars | None
) -> tuple[Decision, Memory]:
    with policy.stages.time("updateClusterState"):
        templates = choose_templates(world, memory, policy, now)
        world = replace(world, groups=templates.groups)
        health = assess(world, templates.memory, policy, now)
    cleaned = _without_leaving(world, health.delete, health.shrink)
    with policy.stages.time("scaleDown"):
        removals = plan_removals(cleaned, health.memory, policy, now)
    underway = Decision(
        at=now,
        restore=removals.restore,
        shrink=health.shrink,
        delete=health.delete + removals.delete,
        evict=removals.evict,
        again=removals.again,
        notices=health.notices + removals.notices,
        learnt=templates.learnt,
    )
    if particulars is not None:
        particulars.note_groups(world, health)
    if health.halted is not None:
        if particulars is not None:
            particulars.note_utilization(world, health, policy, now)
        return _halt(underway, world, health.halted, policy), removals.memory
    with policy.stages.time("scaleUp"):
        growth = _plan_growth(world, health, removals.memory, policy, now)
    scale_up, simulation = growth.plan, growth.simulation
    memory = _remember_growth(removals.memory, scale_up, now)
    if particulars is not None:
        particulars.note_utilization(world, health, policy, now)
    # No pod is moved onto a node that may never come, or whose machine is going.
    simulation.remove_nodes([*growth.upcoming, *_doomed(world, health.starting | memory.removals.keys())])
    left = _without_leaving(cleaned, removals.delete)
    pause = "pods have only just come" if scale_up.pods_just_came else ""
    replacements = follow_replacements(left, memory, simulation, policy, now)
    apart = health.starting | replacements.apart
    scale_down = plan_scale_down(
        left, apart, replacements.memory, simulation, policy, now, pause=pause, replaced=replacements.ripe
    )
    verdicts = {**scale_down.nodes, **replacements.nodes}
    consolidation = _consolidate(left, health, verdicts, scale_down.memory, growth, policy, now, pause)
    hints = plan_soft_taints(world, consolidation.memory, policy.settings.scale_down)
    decision = _with_growth(underway, scale_up)
    decision = replace(
        decision,
        grow=decision.grow + consolidation.grow,
        drain=scale_down.drain,
        soft_untaint=hints.soft_untaint,
        soft_taint=hints.soft_taint,
        nodes={**verdicts, **consolidation.nodes},
        notices=decision.notices + replacements.notices,
    )
    if particulars is not None:
        particulars.removable_now = scale_down.removable_now
    memory = consolidation.memory
    return decision, replace(memory, standings=note_standings(decision.nodes, decision.restore, memory.standings, now))


def _consolidate(
    world: World,
    health: Assessment,
    verdicts: Mapping[str, Verdict],
    memory: Memory,
    growth: "_Growth",
    policy: Policy,
    now: datetime,
    pause: str,
) -> Consolidation:
    """Return which nodes begin to be replaced, given what scale-down left of the cluster as it will be."""
    scale_down = policy.settings.scale_down
    if not (scale_down.enabled and scale_down.consolidation.enabled):
        return Consolidation(memory=memory)
    pause = pause or waiting(growth.plan.pods) or ("groups are growing" if growth.plan.grow else "")
    room = Limits(world, health, policy.settings.limits)
    return consolidate(world, health, verdicts, memory, growth.simulation, room, policy, now, pause=pause)


def _with_growth(decision: Decision, scale_up: ScaleUpPlan) -> Decision:
    return replace(
        decision,
        grow=scale_up.grow,
        pods=scale_up.pods,
        rejections=scale_up.rejections,
        groups=scale_up.groups,
        options=scale_up.options,
        notices=decision.notices + scale_up.notices,
        answers=scale_up.answers,
        again=min((time for time in (decision.again, scale_up.again) if time is not None), default=None),
    )


def _halt(underway: Decision, world: World, why: Verdict, policy: Policy) -> Decision:
    """Return what is *underway* and nothing else, with the reason for every pod that waits, every group and node."""
    waiting = in_turn(world.cluster, policy.settings.scale_up)
    return replace(
        underway,
        halted=why,
        pods={key: why for pods in waiting for key in pods.keys},
        groups={facts.id: why for facts in world.groups},
        nodes=dict.fromkeys(world.cluster.nodes, why),
    )


def _settle_pods(world: World, policy: Policy) -> None:
    """Leave expendable pods out, as they give way, and put pods where the scheduler is about to put them."""
    cluster, cutoff = world.cluster, policy.settings.scale_up.expendable_priority_cutoff
    for pod_class in cluster.pod_classes.known:
        if pod_class.population and pod_class.pod.is_expendable(cutoff):
            cluster.leave_out(pod_class)
    for row in cluster.waiting.nominated.values():
        pod = row.pending or row.pod_class.pod
        at = cluster.table.rows.get(pod.status.nominated_node_name)
        if at is not None and not pod.is_expendable(cutoff):
            cluster.take(row.pod_class, (row.key,), np.array([at], dtype=np.intp))


@dataclass(frozen=True, kw_only=True)
class _Growth:
    """A scale-up, and the cluster as it will be soon without it."""

    plan: ScaleUpPlan
    simulation: ClusterSimulation
    #: Names of the nodes in it that are not there yet.
    upcoming: Sequence[str]


def _plan_growth(world: World, health: Assessment, memory: Memory, policy: Policy, now: datetime) -> _Growth:
    absent = health.starting | memory.removals.keys()
    simulation = ClusterSimulation(world.cluster)
    simulation.remove_nodes([name for name in world.cluster.nodes if name in absent])
    simulation.spare_nodes(coming_back(world, memory), uncordon=policy.settings.scale_down.cordon)
    # Pods that wait get nodes as if those were not there that wait for others.
    reserved = spoken_for(world, memory, policy)
    upcoming = {
        group.facts.id: simulation.add_nodes(group.facts, count)
        for group in health.groups
        if (count := group.upcoming - reserved[group.facts.id]) > 0 and group.facts.template is not None
    }
    plan = plan_scale_up(
        world,
        health,
        simulation,
        policy,
        memory.turn,
        now,
        leaving=memory.removals,
        intended=recall(memory.intentions, world.cluster, upcoming),
    )
    if policy.settings.scale_up.enforce_min_size:
        limits = Limits(world, health, policy.settings.limits)
        plan = replace(plan, grow=grow_to_minimum(health.groups, plan.grow, limits))
    names = [name for names in upcoming.values() for name in names]
    return _Growth(plan=plan, simulation=simulation, upcoming=names)


def _doomed(world: World, absent: Set[str]) -> list[str]:
    """Return the nodes, but for those *absent* already, whose machines the cloud deletes."""
    if not world.deleting:
        return []
    nodes = world.cluster.nodes.items()
    return [name for name, node in nodes if node.spec.provider_id in world.deleting and name not in absent]


def _without_leaving(world: World, delete: Iterable[DeleteInstances], shrink: Iterable[Shrink] = ()) -> World:
    """Return *world* with groups of the sizes they have when machines are given up and deleted as said."""
    leaving = Counter({each.group: each.count for each in shrink})
    for each in delete:
        leaving[each.group] += len(each.instances)
    groups = (replace(facts, target_size=facts.target_size - leaving[facts.id]) for facts in world.groups)
    return replace(world, groups=tuple(groups)) if leaving else world


def _remember_growth(memory: Memory, scale_up: ScaleUpPlan, now: datetime) -> Memory:
    known = tuple(each for each in memory.intentions if each.group in memory.requests)
    if not scale_up.grow:
        return memory if known == memory.intentions else replace(memory, intentions=known)
    requests = dict(memory.requests)
    for grow in scale_up.grow:
        before = requests.get(grow.group)
        requests[grow.group] = ScaleUpRequest(at=now, count=(before.count if before else 0) + grow.count)
    return replace(
        memory,
        requests=requests,
        intentions=known + scale_up.intentions,
        last_scale_up=now,
        changes=changed(memory.changes, [grow.group for grow in scale_up.grow], grown=now),
        turn=memory.turn + scale_up.taken,
    )
