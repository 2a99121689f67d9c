"""The way of a loop: what is, what is remembered and what is wanted go in; what to do, and why, comes out."""

from datetime import datetime
from typing import NamedTuple

from nodewright.api.decision import Decision
from nodewright.decision import stages
from nodewright.decision.course import Course, Stage, in_order
from nodewright.decision.findings import Findings, Measured
from nodewright.decision.health import Assessment
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown import ScaleDownPlan
from nodewright.decision.world import World

#: What Cluster Autoscaler's metrics call the time before anything is planned.
_OBSERVING = "updateClusterState"

#: What every loop begins with, however the cluster is.
BEGINNING = in_order(
    Stage("world", stages.prepare, "Which pods and groups count: every later stage goes by these."),
    Stage("templates", stages.choose_templates, "A group without a template can't grow: health says so.", _OBSERVING),
    Stage("health", stages.assess, "What is wrong, and what is on its way: it may halt the loop.", _OBSERVING),
    Stage("removals", stages.advance_removals, "Half-done removals go on, even in a halted loop.", "scaleDown"),
)

#: What follows where the cluster is well.
PLAN = in_order(
    Stage("forecast", stages.foresee, "What is under way will be there soon: nothing is ordered for it.", "scaleUp"),
    Stage("growth", stages.grow, "Pods come before savings, so this comes before all that shrinks.", "scaleUp"),
    Stage("certainty", stages.make_certain, "No running pod may be moved to a node that may never come."),
    Stage("replacements", stages.continue_replacements, "Nodes whose replacements are ready may go with the others."),
    Stage("scale-down", stages.shrink, "Unneeded nodes begin to go, within budgets that all of them share."),
    Stage("consolidation", stages.replace_nodes, "Cheaper nodes take over from what scale-down has to leave."),
    Stage("hints", stages.hint, "Soft taints keep pods off unneeded nodes: they follow from the timers above."),
    Stage(
        "verdicts", stages.note_verdicts, "The last stage with a verdict on a node decides; since when is remembered."
    ),
    Stage("decision", stages.conclude, "Everything that was found, as one value."),
    after=BEGINNING,
)

#: What follows where it is not.
HALT = in_order(Stage("decision", stages.halt, "Why nothing but the beginning is done."), after=BEGINNING)

#: What is decided once more, in the same loop, after a group failed to grow.
RETRY = BEGINNING[:3]
RETRY_PLAN = in_order(*PLAN[:2], Stage("decision", stages.grow_instead, "What grows instead."), after=RETRY)
RETRY_HALT = in_order(Stage("decision", stages.halt_growth, "Why nothing grows."), after=RETRY)

#: Measured after pending pods were placed, and before nodes are taken away.
_MEASURE = Stage("utilization", stages.measure, "How much of each node is requested, for those who look closer.")


class Decided(NamedTuple):
    """What comes out of a decision."""

    decision: Decision
    memory: Memory
    findings: Findings


def decide(world: World, memory: Memory, policy: Policy, now: datetime, *, in_depth: bool = False) -> Decided:
    """Return what to do about *world* at *now*, what to remember for the next time, and what was found out.

    A function of what it is given: it does no I/O and changes nothing that is visible outside. Chance comes from the
    policy's seed and *now*. Two things it asks for are part of the policy, so that a replay can give them: what
    expanders hear that ask outside (`Policy.answers`), and the stopwatch for limits of time (`Policy.stopwatch`).

    Raises nothing: a plugin that fails is left out and noted with the policy's faults. The utilization of nodes is
    among the findings only *in_depth*. For the loop's thread: it changes the cluster's columns and restores them.
    """
    with world.cluster.fork():
        course = Course(world, memory, policy, now)
        course.run(BEGINNING)
        health = course.found(Assessment)
        if health.halted is not None:
            course.run((_MEASURE, *HALT) if in_depth else HALT)
            found = Findings.of(health, course.found(Measured) if in_depth else None)
        else:
            course.run((*PLAN[:2], _MEASURE, *PLAN[2:]) if in_depth else PLAN)
            measured = course.found(Measured) if in_depth else None
            found = Findings.of(health, measured, course.found(ScaleDownPlan).removable_now)
        return Decided(course.found(Decision), course.memory, found)


def decide_growth(world: World, memory: Memory, policy: Policy, now: datetime) -> Decided:
    """Return how else to grow in a loop in which growth failed, and what to remember; nothing else is decided.

    *world* is as it is after what did succeed and has the outcomes of the growth, *memory* is without what failed: see
    `nodewright.decision.execution`. A group that failed for good is backed off. Otherwise as `decide`.
    """
    with world.cluster.fork():
        course = Course(world, memory, policy, now)
        course.run(RETRY)
        health = course.found(Assessment)
        course.run(RETRY_PLAN if health.halted is None else RETRY_HALT)
        return Decided(course.found(Decision), course.memory, Findings.of(health))
