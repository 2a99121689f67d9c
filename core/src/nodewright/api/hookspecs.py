"""Hooks: what else happens, beside the implementations that YAML names.

A plugin implements any of them as methods marked with `hookimpl`, with any subset of the arguments. Hooks are found
on every plugin that YAML names. A plugin that has nothing else is registered in the entry-point group
``nodewright.hooks``.

The hooks are pluggy's, with these rules. Plugins are called in the order of the configuration (the estimator, hooks,
expanders, processors, drain rules, providers, prices): they are registered from its end, as pluggy calls the last one
first. ``tryfirst`` and ``trylast`` count, as in pluggy. Wrappers are refused, as pluggy calls nothing behind one that
fails; so are coroutines. In the adjust hooks each plugin sees what the one before it returned, and an answer with
anything in it that was not given is refused; pluggy would give all plugins the same.

All hooks are called on the loop's thread unless they say otherwise, and none may block: a decision waits for them.
Those called while a decision is made (all but observers) must be pure: a decision that is made again has to come out
the same. An exception never ends the loop: it is logged, counted in ``nodewright_plugin_faults_total`` and treated as
each hook says, and so is an answer of the wrong type. Other plugins' hooks are called all the same. What hooks are
given is read-only all the way down: to change it raises.
"""

from collections.abc import Sequence
from datetime import datetime

import pluggy

from nodewright.api.decision import Decision, Outcome
from nodewright.api.errors import Problem
from nodewright.api.estimator import Estimate
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.template import NodeTemplate
from nodewright.objects import Node

PROJECT = "nodewright"
hookspec = pluggy.HookspecMarker(PROJECT)
#: Marks a method that implements the hook of the same name.
hookimpl = pluggy.HookimplMarker(PROJECT)


class NodeGroupHooks:
    """After all providers were read, before anything is decided: the groups themselves."""

    @hookspec
    def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts] | None:
        """Leave out or change groups (with `dataclasses.replace`); None changes nothing.

        Called once per loop. An exception changes nothing.
        """


class NodeTemplateHooks:
    """Before anything is decided: what new nodes look like."""

    @hookspec
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Correct what a new node of *group* looks like; None changes nothing.

        Called once per loop for each group that has a template. An exception changes nothing.
        """


class ProcessorHooks:
    """After the processors that YAML names: what is decided about."""

    @hookspec
    def adjust_pending_pods(self, pods: Sequence[PodSet], now: datetime) -> Sequence[PodSet] | None:
        """Take pods off the list of those that need nodes; None changes nothing.

        Called once per loop in which pods are pending. An exception changes nothing.
        """

    @hookspec
    def adjust_candidates(self, nodes: Sequence[Node], now: datetime) -> Sequence[Node] | None:
        """Leave out nodes that must not be looked at for removal; None changes nothing.

        Called once per loop; with consolidation, once more for nodes that could be replaced. An exception leaves out
        all: a faulty plugin never removes nodes.
        """


class EstimatorHooks:
    """After the estimator: how many nodes of a group are offered."""

    @hookspec
    def adjust_estimate(self, group: GroupFacts, pods: Sequence[PodSet], estimate: Estimate) -> Estimate | None:
        """Lower *estimate*, which is for *pods*, or drop the option with 0 nodes; None changes nothing.

        Fewer nodes and fewer pods are allowed, more of either is not. Called for each group that would help, in each
        round of a scale-up: pods that are left over bring another round in the same loop, with the growth so far in
        ``group.target_size``. A group that is used whole or not at all can be dropped, not made smaller. An exception
        changes nothing.
        """


class ExpanderHooks:
    """Before and after the expanders: which option is taken."""

    @hookspec
    def adjust_options(self, options: Sequence[Option]) -> Sequence[Option] | None:
        """Leave out options before the expanders see them; None changes nothing. An exception changes nothing."""

    @hookspec(firstresult=True)
    def veto_scale_up(self, option: Option, now: datetime) -> str | None:
        """Refuse the option that the expanders chose, with a reason in words; None lets it pass.

        The next best option is tried then. The first refusal counts, and no further plugin is asked. An exception
        lets the option pass: a faulty plugin never keeps pods waiting.
        """


class RemovalHooks:
    """Before a node is removed."""

    @hookspec(firstresult=True)
    def veto_scale_down(self, node: Node, group: GroupFacts, now: datetime) -> str | None:
        """Refuse the removal of *node*, with a reason in words; None lets it pass.

        Called for each node about to be drained or deleted because it is not needed, and before a cheaper node is
        ordered to replace it. The first refusal counts, and no further plugin is asked. An exception refuses.
        """


class Observers:
    """What happened. Return values are ignored; an exception is logged and counted, nothing else."""

    @hookspec
    def on_decision(self, decision: Decision) -> None:
        """A decision was made and is about to be carried out. Not called in a dry run, which carries nothing out.

        Called once per loop. If growth fails, it is called again in this loop for each further decision on what to
        grow instead. Such a decision has growth and the verdicts on it, and of the loop's first one the verdicts on
        nodes.
        """

    @hookspec
    def on_outcome(self, outcome: Outcome) -> None:
        """An action was carried out or failed. Called on the loop's thread, after all actions of a decision.

        The outcome of an action that takes longer than `loop.actionTimeout` is reported in the loop after its end.
        """

    @hookspec
    def on_config_refused(self, problems: Sequence[Problem]) -> None:
        """The configuration file changed and can't be used; the old one stays. Called on the loop's thread."""

    @hookspec
    def on_config_changed(self) -> None:
        """A new configuration took effect. Called on the loop's thread, before the first loop under it."""

    @hookspec
    def on_fault(self, plugin: str, where: str, error: str) -> None:
        """A plugin failed in *where* (a hook's or method's name); *error* says how, in one line.

        Called just before `on_decision`, once for each fault since the last time, whichever thread it happened on; of
        more than a thousand, for the latest thousand. Not called for faults in this hook itself.
        """


#: Every class of specifications, in the order of their moments in a loop.
HOOKSPECS: tuple[type, ...] = (
    NodeGroupHooks,
    NodeTemplateHooks,
    ProcessorHooks,
    EstimatorHooks,
    ExpanderHooks,
    RemovalHooks,
    Observers,
)
