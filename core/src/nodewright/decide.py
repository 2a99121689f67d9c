"""The one function: what is, what is remembered and what is wanted go in; what to do, and why, comes out."""

from dataclasses import replace
from datetime import datetime

from nodewright.api.decision import Decision
from nodewright.api.group import GroupFacts
from nodewright.api.option import PodSet
from nodewright.health import Assessment, assess
from nodewright.memory import Memory, ScaleUpRequest
from nodewright.policy import Policy
from nodewright.scaledown import plan_removals, plan_scale_down
from nodewright.scaledown.drainability import judge
from nodewright.scaleup import ScaleUpPlan, plan_scale_up
from nodewright.scheduling import ClusterSimulation
from nodewright.scheduling.templates import template_from
from nodewright.world import World


def decide(world: World, memory: Memory, policy: Policy, now: datetime) -> tuple[Decision, Memory]:
    """Return what to do about *world* at *now*, and what to remember for the next time.

    Pure: no clock, no network, no chance but what the policy's seed and *now* make of it. Raises nothing: a plugin
    that fails is left out and noted with the policy's faults.
    """
    with world.cluster.fork():
        return _decide(_with_templates(world, policy), memory, policy, now)


def _decide(world: World, memory: Memory, policy: Policy, now: datetime) -> tuple[Decision, Memory]:
    health = assess(world, memory, policy, now)
    removals = plan_removals(world, health.memory, policy, now)
    simulation, upcoming = _simulate_now(world, health, removals.memory, policy, now)
    scale_up = plan_scale_up(world, health, simulation, policy, now)
    memory = _remember_growth(removals.memory, scale_up, now)
    # No pod is moved onto a node that may never come.
    simulation.remove_nodes(upcoming)
    scale_down = plan_scale_down(world, health.starting, memory, simulation, policy, now)
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
    )
    return decision, scale_down.memory


def _with_templates(world: World, policy: Policy) -> World:
    """Let hooks adjust groups and templates; a group whose provider has no template takes one of its nodes for it."""
    groups = policy.hooks.adjust_groups(world.groups)
    return replace(world, groups=tuple(_with_template(group, world, policy) for group in groups))


def _with_template(group: GroupFacts, world: World, policy: Policy) -> GroupFacts:
    template = group.template
    if template is None:
        ready = (
            node
            for name, node in world.cluster.nodes.items()
            if world.group_of.get(name) == group.id and node.ready and not node.spec.unschedulable
        )
        model = next(ready, None)
        if model is None:
            return group
        template = template_from(model)
    return replace(group, template=policy.hooks.adjust_template(group, template))


def _simulate_now(
    world: World, health: Assessment, memory: Memory, policy: Policy, now: datetime
) -> tuple[ClusterSimulation, list[str]]:
    """Return the cluster as it will be soon, and the names of the upcoming nodes in it.

    Nodes that go are not in it; the pods that have to leave them are placed first.
    """
    absent = health.starting | memory.removals.keys()
    simulation = ClusterSimulation(world.cluster)
    simulation.remove_nodes([name for name in world.cluster.nodes if name in absent])
    upcoming: list[str] = []
    for group in health.groups:
        if group.upcoming and group.facts.template is not None:
            upcoming.extend(simulation.add_nodes(group.facts, group.upcoming))
    for name in memory.removals:
        budgets = world.cluster.budgets.values()
        drainable = judge(world.cluster.pods_on(name), budgets, policy.settings.scale_down, now, budgets_block=False)
        for row in drainable.move:
            simulation.place(PodSet(pod=row.pod_class.pod, keys=(row.key,)))
    return simulation, upcoming


def _remember_growth(memory: Memory, scale_up: ScaleUpPlan, now: datetime) -> Memory:
    if not scale_up.grow:
        return memory
    requests = dict(memory.requests)
    for grow in scale_up.grow:
        open_count = requests[grow.group].count if grow.group in requests else 0
        requests[grow.group] = ScaleUpRequest(at=now, count=open_count + grow.count)
    return replace(memory, requests=requests, last_scale_up=now)
