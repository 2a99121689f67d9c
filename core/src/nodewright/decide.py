"""The one function: what is, what is remembered and what is wanted go in; what to do, and why, comes out."""

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np

from nodewright.api.decision import Decision
from nodewright.api.group import GroupFacts
from nodewright.health import Assessment, assess
from nodewright.memory import Memory, ScaleUpRequest
from nodewright.policy import Policy
from nodewright.scaledown import RemovalPlan, plan_removals, plan_scale_down
from nodewright.scaledown.utilization import Utilization, Utilizations
from nodewright.scaleup import ScaleUpPlan, plan_scale_up
from nodewright.scheduling import ClusterSimulation
from nodewright.templates import choose_templates
from nodewright.world import World


@dataclass(kw_only=True)
class Particulars:
    """What is found out on the way to a decision and is no part of it: filled in for those who want to look closer."""

    #: All groups, with the templates that were gone by.
    groups: tuple[GroupFacts, ...] = ()
    #: Nodes that were counted on though they are not there yet, by group.
    upcoming: dict[str, int] = field(default_factory=dict)
    #: By node, after pending pods were placed.
    utilization: dict[str, Utilization] = field(default_factory=dict)


def decide(
    world: World, memory: Memory, policy: Policy, now: datetime, particulars: Particulars | None = None
) -> tuple[Decision, Memory]:
    """Return what to do about *world* at *now*, and what to remember for the next time.

    Pure: no clock, no network, no chance but what the policy's seed and *now* make of it; only expanders that say so
    ask outside, and not even they if the policy has their answers. Raises nothing: a plugin that fails is left out and
    noted with the policy's faults. *particulars* are filled in if they are given.
    """
    with world.cluster.fork():
        _settle_pods(world, policy)
        world = replace(world, groups=tuple(policy.hooks.adjust_groups(world.groups)))
        return _decide(world, memory, policy, now, particulars)


def _decide(
    world: World, memory: Memory, policy: Policy, now: datetime, particulars: Particulars | None
) -> tuple[Decision, Memory]:
    templates = choose_templates(world, memory, policy, now)
    world = replace(world, groups=templates.groups)
    health = assess(world, templates.memory, policy, now)
    removals = plan_removals(world, health.memory, policy, now)
    simulation, upcoming = _simulate_now(world, health, removals.memory)
    leaving = removals.memory.removals
    scale_up = plan_scale_up(world, health, simulation, policy, memory.turn, now, leaving=leaving)
    memory = _remember_growth(removals.memory, scale_up, now)
    if particulars is not None:
        _fill_in(particulars, world, health, policy, now)
    # No pod is moved onto a node that may never come.
    simulation.remove_nodes(upcoming)
    left = _without_leaving(world, health, removals)
    pause = "pods have only just come" if scale_up.pods_just_came else ""
    scale_down = plan_scale_down(left, health.starting, memory, simulation, policy, now, pause=pause)
    decision = Decision(
        at=now,
        restore=removals.restore,
        shrink=health.shrink,
        grow=scale_up.grow,
        delete=health.delete + removals.delete,
        drain=scale_down.drain,
        evict=removals.evict,
        pods=scale_up.pods,
        rejections=scale_up.rejections,
        nodes=scale_down.nodes,
        groups=scale_up.groups,
        options=scale_up.options,
        notices=scale_up.notices,
        answers=scale_up.answers,
        again=scale_up.again,
        learnt=templates.learnt,
    )
    return decision, scale_down.memory


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


def _simulate_now(world: World, health: Assessment, memory: Memory) -> tuple[ClusterSimulation, list[str]]:
    """Return the cluster as it will be soon, without nodes that go, and the names of the upcoming nodes in it."""
    absent = health.starting | memory.removals.keys()
    simulation = ClusterSimulation(world.cluster)
    simulation.remove_nodes([name for name in world.cluster.nodes if name in absent])
    upcoming: list[str] = []
    for group in health.groups:
        if group.upcoming and group.facts.template is not None:
            upcoming.extend(simulation.add_nodes(group.facts, group.upcoming))
    return simulation, upcoming


def _without_leaving(world: World, health: Assessment, removals: RemovalPlan) -> World:
    """Return *world* with groups of the sizes they have when this decision has given up and deleted machines."""
    leaving = Counter({shrink.group: shrink.count for shrink in health.shrink})
    for delete in (*health.delete, *removals.delete):
        leaving[delete.group] += len(delete.instances)
    groups = (replace(facts, target_size=facts.target_size - leaving[facts.id]) for facts in world.groups)
    return replace(world, groups=tuple(groups)) if leaving else world


def _remember_growth(memory: Memory, scale_up: ScaleUpPlan, now: datetime) -> Memory:
    if not scale_up.grow:
        return memory
    requests = dict(memory.requests)
    for grow in scale_up.grow:
        known = requests.get(grow.group)
        open_count = known.count if known else 0
        requests[grow.group] = ScaleUpRequest(at=now, count=open_count + grow.count)
    return replace(memory, requests=requests, last_scale_up=now, turn=memory.turn + scale_up.taken)


def _fill_in(particulars: Particulars, world: World, health: Assessment, policy: Policy, now: datetime) -> None:
    particulars.groups = world.groups
    particulars.upcoming = {group.facts.id: group.upcoming for group in health.groups if group.upcoming}
    options = {group.id: policy.options_of(group) for group in world.groups}
    utilizations = Utilizations(world.cluster, policy.settings.scale_down, now)
    particulars.utilization = {
        name: utilizations.of(
            node,
            gpu=world.gpus.get(name),
            ignore_daemons=options[world.group_of[name]].ignore_daemonsets_utilization,
        )
        for name, node in world.cluster.nodes.items()
        if world.group_of.get(name) in options and name not in health.starting
    }
