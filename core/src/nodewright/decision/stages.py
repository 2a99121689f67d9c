"""The stages: what each step of a decision reads, and what it returns. `decide` puts them in order."""

from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from nodewright.api.decision import Decision
from nodewright.api.reasons import Reason
from nodewright.api.verdict import Verdict
from nodewright.decision.consolidation import (
    Consolidation,
    Consolidator,
    Follower,
    Replacements,
    waiting,
)
from nodewright.decision.demand.intentions import recall
from nodewright.decision.demand.pending import in_turn
from nodewright.decision.findings import measure
from nodewright.decision.forecast import ExistingNodes, Forecast, drop_uncertain, foresee
from nodewright.decision.health import Assessment, assess
from nodewright.decision.memory import (
    ConsolidationMemory,
    CooldownMemory,
    DemandMemory,
    OrderMemory,
    RemovalMemory,
    UnneededMemory,
    VerdictMemory,
)
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown import RemovalPlan, ScaleDown, ScaleDownPlan, advance_removals
from nodewright.decision.scaledown.removal.soft_taints import SoftTaintPlan, plan_soft_taints
from nodewright.decision.scaledown.selection.selector import Selector
from nodewright.decision.scaleup import ScaleUp, ScaleUpPlan
from nodewright.decision.templates import Templates, choose_templates
from nodewright.decision.world import Members, World

__all__ = [
    "Growth",
    "VerdictNotes",
    "advance_removals",
    "assess",
    "choose_templates",
    "conclude",
    "continue_replacements",
    "drop_uncertain",
    "foresee",
    "grow",
    "grow_instead",
    "halt",
    "halt_growth",
    "measure",
    "note_verdicts",
    "plan_soft_taints",
    "prepare",
    "replace_nodes",
    "shrink",
]


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Which groups grow, and what is remembered of that."""

    plan: ScaleUpPlan
    demand: DemandMemory
    orders: OrderMemory
    cooldown: CooldownMemory

    @property
    def pause(self) -> str:
        """Why no removal may start, if so."""
        return "pods have only just come" if self.plan.pods_just_came else ""


@dataclass(frozen=True, kw_only=True)
class VerdictNotes:
    """The verdict on every node, and what is remembered of it."""

    nodes: dict[str, Verdict]
    memory: VerdictMemory


def prepare(world: World, policy: Policy) -> World:
    """Return *world* as decisions see it: pods that give way are out, and groups have the options in effect.

    Expendable pods are left out, and nominated pods are put where the scheduler is about to put them.
    """
    cluster, cutoff = world.cluster, policy.settings.scale_up.expendable_priority_cutoff
    for pod_class in cluster.pod_classes.known:
        if pod_class.population and pod_class.pod.is_expendable(cutoff):
            cluster.leave_out(pod_class)
    for row in cluster.waiting.nominated.values():
        pod = row.pending or row.pod_class.pod
        at = cluster.table.rows.get(pod.status.nominated_node_name)
        if at is not None and not pod.is_expendable(cutoff):
            cluster.take(row.pod_class, (row.key,), np.array([at], dtype=np.intp))
    groups = policy.hooks.adjust_groups(world.groups)
    groups = tuple(replace(facts, options=policy.options_of(facts)) for facts in groups)
    # Nodes may have changed since the world was last asked.
    return replace(world, groups=groups, members=Members())


def grow(
    world: World,
    health: Assessment,
    forecast: Forecast,
    demand: DemandMemory,
    orders: OrderMemory,
    leaving: RemovalMemory,
    cooldown: CooldownMemory,
    policy: Policy,
    now: datetime,
) -> Growth:
    """Return which groups grow for pending pods, and up to their minimum sizes."""
    plan = ScaleUp(world, health, forecast.simulation, policy, now).plan(
        orders.turn,
        demand.arrivals,
        leaving=(*leaving.removals, *world.ending(now).keys() - leaving.removals.keys()),
        intended=recall(orders.intentions, world.cluster, forecast.upcoming),
    )
    demand = demand.arrived(plan.arrivals)
    if not plan.grow:
        return Growth(plan=plan, demand=demand, orders=orders.placed((), (), 0, now), cooldown=cooldown)
    return Growth(
        plan=plan,
        demand=demand,
        orders=orders.placed(plan.grow, plan.intentions, plan.taken, now),
        cooldown=cooldown.grown([order.group for order in plan.grow], now),
    )


def continue_replacements(
    world: World,
    existing: ExistingNodes,
    consolidation: ConsolidationMemory,
    orders: OrderMemory,
    leaving: RemovalMemory,
    policy: Policy,
    now: datetime,
) -> Replacements:
    """Return what comes of the replacements under way."""
    return Follower(world, consolidation, orders, leaving, existing.simulation, policy, now).follow()


def shrink(
    world: World,
    health: Assessment,
    growth: Growth,
    existing: ExistingNodes,
    replacements: Replacements,
    unneeded: UnneededMemory,
    leaving: RemovalMemory,
    cooldown: CooldownMemory,
    verdicts: VerdictMemory,
    policy: Policy,
    now: datetime,
) -> ScaleDownPlan:
    """Return which removals start."""
    scale_down = ScaleDown(world, unneeded, leaving, cooldown, verdicts, existing.simulation, policy, now)
    return scale_down.plan(
        health.starting | replacements.excluded,
        growing={order.group: order.count for order in growth.plan.grow},
        pause=growth.pause,
        replaced=replacements.removable,
    )


def replace_nodes(
    world: World,
    health: Assessment,
    growth: Growth,
    existing: ExistingNodes,
    replacements: Replacements,
    scale_down: ScaleDownPlan,
    orders: OrderMemory,
    unneeded: UnneededMemory,
    leaving: RemovalMemory,
    cooldown: CooldownMemory,
    consolidation: ConsolidationMemory,
    policy: Policy,
    now: datetime,
) -> Consolidation:
    """Return which nodes begin to be replaced by cheaper ones, given what scale-down leaves of the cluster."""
    selector = Selector(world, unneeded, leaving, cooldown, policy, now)
    consolidator = Consolidator(world, health, orders, consolidation, selector, existing.simulation, policy, now)
    return consolidator.plan(
        {**scale_down.nodes, **replacements.nodes},
        pause=growth.pause or waiting(growth.plan.pods) or ("groups are growing" if growth.plan.grow else ""),
    )


def note_verdicts(
    removals: RemovalPlan,
    replacements: Replacements,
    scale_down: ScaleDownPlan,
    consolidation: Consolidation,
    verdicts: VerdictMemory,
    now: datetime,
) -> VerdictNotes:
    """Return the verdict on every node: consolidation's before replacements', and these before scale-down's."""
    nodes = {**scale_down.nodes, **replacements.nodes, **consolidation.nodes}
    failed = [(each.node, each.verdict) for each in removals.restore if each.verdict.reason is Reason.REMOVAL_FAILED]
    return VerdictNotes(nodes=nodes, memory=verdicts.noted(nodes, failed, now))


def conclude(
    templates: Templates,
    health: Assessment,
    removals: RemovalPlan,
    growth: Growth,
    replacements: Replacements,
    scale_down: ScaleDownPlan,
    consolidation: Consolidation,
    hints: SoftTaintPlan,
    verdicts: VerdictNotes,
    now: datetime,
) -> Decision:
    """Return the decision of a loop in which everything was decided."""
    decision = _with_growth(_underway(templates, health, removals, now), growth.plan)
    return replace(
        decision,
        grow=decision.grow + consolidation.grow,
        drain=scale_down.drain,
        soft_untaint=hints.soft_untaint,
        soft_taint=hints.soft_taint,
        nodes=verdicts.nodes,
        notices=decision.notices + replacements.notices,
    )


def halt(
    world: World, templates: Templates, health: Assessment, removals: RemovalPlan, policy: Policy, now: datetime
) -> Decision:
    """Return the decision of a loop that was halted: what is under way goes on, and nothing else is done."""
    return _halted(_underway(templates, health, removals, now), world, health, policy)


def halt_growth(world: World, health: Assessment, policy: Policy, now: datetime) -> Decision:
    """Return the decision on growth where the cluster is not well any more: none."""
    return _halted(Decision(at=now), world, health, policy)


def grow_instead(templates: Templates, growth: Growth, now: datetime) -> Decision:
    """Return the decision on what else to grow; when to look again was decided with everything else."""
    return replace(_with_growth(Decision(at=now, learnt=templates.learnt), growth.plan), again=None)


def _underway(templates: Templates, health: Assessment, removals: RemovalPlan, now: datetime) -> Decision:
    return Decision(
        at=now,
        restore=removals.restore,
        shrink=health.shrink,
        delete=health.delete + removals.delete,
        evict=removals.evict,
        again=min((time for time in (removals.again, health.again) if time is not None), default=None),
        notices=health.notices + removals.notices,
        learnt=templates.learnt,
    )


def _with_growth(decision: Decision, plan: ScaleUpPlan) -> Decision:
    return replace(
        decision,
        grow=plan.grow,
        pods=plan.pods,
        rejections=plan.rejections,
        groups=plan.groups,
        options=plan.options,
        notices=decision.notices + plan.notices,
        answers=plan.answers,
        again=min((time for time in (decision.again, plan.again) if time is not None), default=None),
    )


def _halted(underway: Decision, world: World, health: Assessment, policy: Policy) -> Decision:
    """Return what is *underway*, with the reason for every pod that waits, every group and every node."""
    why = health.halted
    assert why is not None, "only a halted loop ends so"
    pending = in_turn(world.cluster, policy.settings.scale_up)
    return replace(
        underway,
        halted=why,
        pods={key: why for pods in pending for key in pods.keys},
        groups={facts.id: why for facts in world.groups},
        nodes=dict.fromkeys(world.cluster.nodes, why),
    )
