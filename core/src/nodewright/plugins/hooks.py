"""Hooks: what else happens, called so that one plugin's failure stays its own."""

import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import count
from typing import TypeVar

from nodewright.api import Decision, GroupFacts, Node, NodeTemplate, Option, Outcome, PluginError, PodSet, Problem
from nodewright.plugins.faults import Fault, Faults
from nodewright.plugins.hookimpls import HOOKS, HookManager, implemented_hooks
from nodewright.plugins.results import instance_of, made_from, optional, part_of, words

T = TypeVar("T")

#: How many faults may wait to be told; of a plugin that fails faster, the oldest are not.
UNTOLD = 1000


@dataclass(frozen=True, kw_only=True)
class Veto:
    """One plugin's refusal."""

    plugin: str
    reason: str

    def __str__(self) -> str:
        return f"{self.plugin}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class _Implementation:
    """One plugin's method for one hook."""

    plugin: str
    function: Callable[..., object]
    #: The arguments that it wants to have.
    takes: tuple[str, ...]


class Hooks:
    """The one dispatcher of all hooks, in the order in which plugins were registered (tryfirst and trylast count).

    One method for each hook of `nodewright.api.hookspecs`, where its meaning is written. An exception counts as a
    fault of the plugin, and so does an answer of the wrong type. For the loop's thread only.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._manager = HookManager()
        self._implementations: dict[str, tuple[_Implementation, ...]] = dict.fromkeys(HOOKS, ())
        self._untold: deque[Fault] = deque(maxlen=UNTOLD)
        faults.listen(self._remember)

    def register(self, name: str, plugin: object) -> tuple[str, ...]:
        """Take up *plugin*, called *name* in logs and metrics, and return the hooks that it implements.

        Raises `PluginError` that names the method if a hook of it can't work; nothing is registered then.
        """
        if self._manager.is_registered(plugin):
            raise PluginError(name, f"plugin {name!r} is registered already")
        try:
            hooks = implemented_hooks(type(plugin))
        except ValueError as error:
            raise PluginError(name, f"plugin {name!r} can't be used: {error}") from None
        self._manager.register(plugin, name=self._unique(name))
        self._arrange()
        return hooks

    def unregister(self, plugin: object) -> None:
        """Forget *plugin*; does nothing if it is not registered."""
        if self._manager.is_registered(plugin):
            self._manager.unregister(plugin)
            self._arrange()

    def close(self) -> None:
        """Hear of no more faults: another configuration's hooks take over."""
        self._faults.forget(self._remember)

    def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts]:
        """Return the groups that decisions see."""

        def check(given: Sequence[GroupFacts]) -> Callable[[object], Sequence[GroupFacts]]:
            return made_from(given, GroupFacts, lambda group: (f"group {group.provider}/{group.id}",))

        return self._adjust("adjust_groups", "groups", groups, check)

    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate:
        """Return what a new node of *group* looks like."""
        return self._adjust("adjust_template", "template", template, lambda _: instance_of(NodeTemplate), group=group)

    def adjust_pending_pods(self, pods: Sequence[PodSet], now: datetime) -> Sequence[PodSet]:
        """Return the pods that need nodes."""

        def check(given: Sequence[PodSet]) -> Callable[[object], Sequence[PodSet]]:
            return made_from(given, PodSet, lambda pods: pods.keys)

        return self._adjust("adjust_pending_pods", "pods", pods, check, now=now)

    def adjust_options(self, options: Sequence[Option]) -> Sequence[Option]:
        """Return the options that expanders see."""

        def check(given: Sequence[Option]) -> Callable[[object], Sequence[Option]]:
            return part_of(given, Option, lambda option: f"an option for group {option.group.id}")

        return self._adjust("adjust_options", "options", options, check)

    def veto_scale_up(self, option: Option) -> Veto | None:
        """Return the first refusal of *option*; None if nobody refuses, or fails to."""
        return self._veto("veto_scale_up", on_fault=None, option=option)

    def adjust_candidates(self, nodes: Sequence[Node], now: datetime) -> Sequence[Node]:
        """Return the nodes that may be looked at for removal: none if a plugin fails."""

        def check(given: Sequence[Node]) -> Callable[[object], Sequence[Node]]:
            return part_of(given, Node, lambda node: f"node {node.name}")

        return self._adjust("adjust_candidates", "nodes", nodes, check, on_fault=(), now=now)

    def veto_scale_down(self, node: Node, group: GroupFacts) -> Veto | None:
        """Return the first refusal to remove *node*; a plugin that fails has refused."""
        return self._veto("veto_scale_down", on_fault="failed, see the log", node=node, group=group)

    def on_decision(self, decision: Decision) -> None:
        """Tell that *decision* was made; faults that nobody was told of yet are told before."""
        self.deliver_faults()
        self._tell("on_decision", decision=decision)

    def on_outcome(self, outcome: Outcome) -> None:
        """Tell how an action went."""
        self._tell("on_outcome", outcome=outcome)

    def on_config_refused(self, problems: Sequence[Problem]) -> None:
        """Tell that a changed configuration can't be used."""
        self._tell("on_config_refused", problems=problems)

    def on_config_changed(self) -> None:
        """Tell that a new configuration took effect."""
        self._tell("on_config_changed")

    def deliver_faults(self) -> None:
        """Tell of all faults since the last time. Called by `on_decision`; the loop calls it once more at its end."""
        while self._untold:
            fault = self._untold.popleft()
            self._tell("on_fault", plugin=fault.plugin, where=fault.where, error=fault.error)

    def _adjust(
        self,
        hook: str,
        argument: str,
        value: T,
        check: Callable[[T], Callable[[object], T]],
        *,
        on_fault: T | None = None,
        **others: object,
    ) -> T:
        """Pass *value* from plugin to plugin; one that fails leaves it, or makes it *on_fault* if that is given."""
        for implementation in self._implementations[hook]:
            given = {argument: value, **others}
            answer = self._ask(implementation, hook, given, default=on_fault, returns=optional(check(value)))
            if answer is not None:
                value = answer
        return value

    def _veto(self, hook: str, *, on_fault: str | None, **given: object) -> Veto | None:
        for implementation in self._implementations[hook]:
            reason = self._ask(implementation, hook, given, default=on_fault, returns=optional(words))
            if reason is not None:
                return Veto(plugin=implementation.plugin, reason=reason)
        return None

    def _tell(self, hook: str, **given: object) -> None:
        for implementation in self._implementations[hook]:
            self._ask(implementation, hook, given, default=None, returns=lambda _: None)

    def _ask(
        self,
        implementation: _Implementation,
        hook: str,
        given: Mapping[str, object],
        *,
        default: T,
        returns: Callable[[object], T],
    ) -> T:
        call = partial(implementation.function, **{name: given[name] for name in implementation.takes})
        return self._faults.call(implementation.plugin, hook, call, default=default, returns=returns)

    def _remember(self, fault: Fault) -> None:
        if fault.where != "on_fault":
            self._untold.append(fault)

    def _unique(self, name: str) -> str:
        """Return *name*, numbered if another plugin has it: YAML may name one twice, with different settings."""
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        return next(each for each in names if not self._manager.has_plugin(each))

    def _arrange(self) -> None:
        """Put the implementations of every hook in order; pluggy keeps them last registered first."""
        for hook in HOOKS:
            implementations = getattr(self._manager.hook, hook).get_hookimpls()
            implementations.sort(key=lambda each: (each.trylast, not each.tryfirst))
            self._implementations[hook] = tuple(
                _Implementation(
                    plugin=each.plugin_name,
                    function=each.function,
                    takes=tuple(inspect.signature(each.function).parameters),
                )
                for each in implementations
            )
