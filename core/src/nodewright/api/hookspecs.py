"""Hooks: what else happens, beside the implementations that YAML names.

A plugin implements any of them as methods marked with `hookimpl`, with any subset of the arguments. Hooks are found
on every plugin that YAML names, and on those registered in the entry-point group ``nodewright.hooks``. Plugins are
called in the order of the configuration (``tryfirst`` and ``trylast`` count; wrappers and coroutines are refused).

All hooks are called on the loop's thread unless they say otherwise, and none may block: a decision waits for them.
Those called while a decision is made (all but observers) must be pure. An exception never ends the loop: it is
logged, counted in ``nodewright_plugin_faults_total`` and treated as each hook says, and so is an answer of the wrong
type, or one with anything in it that was not given. Other plugins' hooks go on.
"""

from collections.abc import Sequence
from datetime import datetime

import pluggy

from nodewright.api.decision import Decision, Outcome
from nodewright.api.errors import Problem
from nodewright.api.group import GroupFacts
from nodewright.api.option import Option, PodSet
from nodewright.api.template import NodeTemplate
from nodewright.objects import Node

PROJECT = "nodewright"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


class NodeGroupHooks:
    """After all providers were read, before anything is decided."""

    @hookspec
    def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts] | None:
        """Leave out or change groups (with `dataclasses.replace`); None changes nothing.

        Called once per loop; each plugin sees what the one before it returned. An exception changes nothing.
        """

    @hookspec
    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate | None:
        """Correct what a new node of *group* looks like; None changes nothing.

        Called once per loop for each group that has a template. Each plugin sees what the one before it returned.
        An exception changes nothing.
        """


class ScaleUpHooks:
    """While it is decided how to grow."""

    @hookspec
    def adjust_pending_pods(self, pods: Sequence[PodSet], now: datetime) -> Sequence[PodSet] | None:
        """Take pods off the list of those that need nodes; None changes nothing.

        Called once per loop in which pods are pending, after the processors. An exception changes nothing.
        """

    @hookspec
    def adjust_options(self, options: Sequence[Option]) -> Sequence[Option] | None:
        """Leave out options before the expanders see them; None changes nothing. An exception changes nothing."""

    @hookspec
    def veto_scale_up(self, option: Option) -> str | None:
        """Refuse the option that the expanders chose, with a reason in words; None lets it pass.

        The next best option is tried then. An exception lets it pass: a faulty plugin never keeps pods waiting.
        """


class ScaleDownHooks:
    """While it is decided how to shrink."""

    @hookspec
    def adjust_candidates(self, nodes: Sequence[Node], now: datetime) -> Sequence[Node] | None:
        """Leave out nodes that must not be looked at for removal; None changes nothing.

        Called once per loop, after the processors; with consolidation, once more for nodes that others could take the
        place of. An exception leaves out all: a faulty plugin never removes nodes.
        """

    @hookspec
    def veto_scale_down(self, node: Node, group: GroupFacts) -> str | None:
        """Refuse the removal of *node*, with a reason in words; None lets it pass.

        Called for each node about to be drained or deleted because it is not needed, and before a cheaper one is
        ordered that is to take its place. An exception refuses.
        """


class Observers:
    """What happened. Return values are ignored; an exception is logged and counted, nothing else."""

    @hookspec
    def on_decision(self, decision: Decision) -> None:
        """A decision was made and is about to be carried out; in a dry run none is, and this is not called.

        Called once per loop, and once more for each decision on what else to grow after growth failed in this loop:
        these have growth and the verdicts on it, and else only the verdicts on nodes of the loop's first.
        """

    @hookspec
    def on_outcome(self, outcome: Outcome) -> None:
        """An action was carried out or failed. Called on the loop's thread, after all actions of a decision.

        An action that takes longer than `loop.actionTimeout` is told of in the loop after its end.
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

        Called just before `on_decision`, once for each fault since the last one, whichever thread it happened on (the
        latest thousand, of a plugin that fails faster). Not called for faults in this hook itself.
        """


#: Every class of specifications, in the order of their moments in a loop.
HOOKSPECS: tuple[type, ...] = (NodeGroupHooks, ScaleUpHooks, ScaleDownHooks, Observers)
