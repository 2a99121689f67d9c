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

# Each stage has its name, the function that runs, and one line that says what it does and why it stands there. What it
# reads and returns stands in its signature in `stages`.

#: How every loop begins, however the cluster is.
BEGINNING = in_order(
    Stage("world", stages.prepare, "Settles which pods and groups count: every later stage goes by these."),
    Stage("templates", stages.choose_templates, "Finds what new nodes look like: without that, no growth.", _OBSERVING),
    Stage("health", stages.assess, "Judges groups and cluster, and cleans up: it may halt the loop.", _OBSERVING),
    Stage("removals", stages.advance_removals, "Takes removals a step further, even in a halted loop.", "scaleDown"),
)

#: How it goes on where the cluster is well.
PLAN = in_order(
    Stage("forecast", stages.foresee, "Adds what is under way to the simulation: it is not ordered again.", "scaleUp"),
    Stage("growth", stages.grow, "Grows groups for pending pods: pods come before savings.", "scaleUp"),
    Stage("certainty", stages.make_certain, "Takes away nodes that may never come: no running pod may move to these."),
    Stage("replacements", stages.continue_replacements, "Follows replacements: nodes with a ready successor may go."),
    Stage("scale-down", stages.shrink, "Picks the unneeded nodes that begin to go, with those just replaced."),
    Stage("consolidation", stages.replace_nodes, "Orders cheaper nodes in place of those that scale-down leaves."),
    Stage("hints", stages.hint, "Sets soft taints by the timers that scale-down has left."),
    Stage("verdicts", stages.note_verdicts, "Notes the last word on each node, after all stages that have one."),
    Stage("decision", stages.conclude, "Puts everything that was found into one value."),
    after=BEGINNING,
)

#: How it ends where the cluster is not well.
HALT = in_order(Stage("decision", stages.halt, "Says why nothing but the beginning is done."), after=BEGINNING)

#: What is decided once more, in the same loop, after a group failed to grow.
RETRY = BEGINNING[:3]
RETRY_PLAN = in_order(*PLAN[:2], Stage("decision", stages.grow_instead, "Says what grows instead."), after=RETRY)
RETRY_HALT = in_order(Stage("decision", stages.halt_growth, "Says why nothing grows."), after=RETRY)

#: Measured after pending pods were placed, and before nodes are taken away.
_MEASURE = Stage("utilization", stages.measure, "Measures how much of each node is requested.")


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
