"""The stages of a decision, in their order. In: world, memory, policy and time. Out: what to do, and why."""

from datetime import datetime
from typing import NamedTuple

from nodewright.api.decision import Decision
from nodewright.decision import stages
from nodewright.decision.findings import Findings, Measured
from nodewright.decision.health import Assessment
from nodewright.decision.memory import Memory
from nodewright.decision.pipeline import Pipeline, Stage, in_order
from nodewright.decision.policy import Policy
from nodewright.decision.scaledown import ScaleDownPlan
from nodewright.decision.world import World

# Each stage has its name, the function that runs, and one line that says what it does and why it stands there. Stages
# are wired by the types of their parameters and results: see `stages` and `pipeline`.

#: What is there, and what is wrong with it.
ASSESSMENT = in_order(
    Stage("world", stages.prepare, "Leaves out expendable pods and applies group options: all later stages see that."),
    Stage("templates", stages.choose_templates, "Finds what new nodes look like; groups without that can't grow."),
    Stage("health", stages.assess, "Judges groups and cluster, and cleans up. It may halt the loop after removals."),
)
#: What goes on in every loop, halted or not.
REMOVALS = in_order(
    Stage("removals", stages.advance_removals, "Takes removals of earlier loops a step further: all of them must end."),
    after=ASSESSMENT,
)
#: What grows, unless the loop is halted.
GROWTH = in_order(
    Stage("forecast", stages.foresee, "Counts nodes that are ordered already, so that they are not ordered twice."),
    Stage("growth", stages.grow, "Grows groups for pending pods. It comes first, as pods come before savings."),
    after=ASSESSMENT,
)
#: What shrinks after that, and the end of the loop.
SHRINKING = in_order(
    Stage("existing-nodes", stages.drop_uncertain, "Drops nodes that may never come: no pod may be moved to them."),
    Stage("replacements", stages.continue_replacements, "Follows earlier replacements: their old nodes may go now."),
    Stage("scale-down", stages.shrink, "Picks the unneeded nodes whose removal starts, together with replaced ones."),
    Stage("consolidation", stages.replace_nodes, "Orders cheaper nodes in place of some that scale-down has to leave."),
    Stage("soft-taints", stages.plan_soft_taints, "Marks unneeded nodes, by the timers that scale-down has set."),
    Stage("verdicts", stages.note_verdicts, "Notes the last word on each node, after all stages that have one."),
    Stage("decision", stages.conclude, "Puts everything that was found into one value."),
    after=(*ASSESSMENT, *REMOVALS, *GROWTH),
)
#: How a halted loop ends.
HALT = in_order(
    Stage("decision", stages.halt, "Says why nothing new is started."),
    after=(*ASSESSMENT, *REMOVALS),
)

#: How a second decision in the same loop ends, after a group failed to grow: with what grows instead, or with nothing.
RETRY = in_order(Stage("decision", stages.grow_instead, "Says what grows instead."), after=(*ASSESSMENT, *GROWTH))
RETRY_HALT = in_order(Stage("decision", stages.halt_growth, "Says why nothing grows."), after=ASSESSMENT)

#: For those who look closer: pending pods have their places by then, and no node has been dropped yet.
UTILIZATION = in_order(
    Stage("utilization", stages.measure, "Measures how much of each node is requested."),
    after=ASSESSMENT,
)


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
    in_depth_only = UTILIZATION if in_depth else ()
    with world.cluster.fork():
        pipeline = Pipeline(world, memory, policy, now)
        pipeline.run(*ASSESSMENT, *REMOVALS)
        health = pipeline.found(Assessment)
        if health.halted is None:
            pipeline.run(*GROWTH, *in_depth_only, *SHRINKING)
            removable_now = pipeline.found(ScaleDownPlan).removable_now
        else:
            pipeline.run(*in_depth_only, *HALT)
            removable_now = ()
        measured = pipeline.found(Measured) if in_depth else None
        return Decided(pipeline.found(Decision), pipeline.memory, Findings.of(health, measured, removable_now))


def decide_growth(world: World, memory: Memory, policy: Policy, now: datetime) -> Decided:
    """Return how else to grow in a loop in which growth failed, and what to remember; nothing else is decided.

    *world* is as it is after what did succeed and has the outcomes of the growth, *memory* is without what failed: see
    `nodewright.decision.execution`. A group that failed for good is backed off. Otherwise as `decide`.
    """
    with world.cluster.fork():
        pipeline = Pipeline(world, memory, policy, now)
        pipeline.run(*ASSESSMENT)
        health = pipeline.found(Assessment)
        pipeline.run(*((*GROWTH, *RETRY) if health.halted is None else RETRY_HALT))
        return Decided(pipeline.found(Decision), pipeline.memory, Findings.of(health))
