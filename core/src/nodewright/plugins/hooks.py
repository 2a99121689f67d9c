"""Hooks: what else happens, called through pluggy so that one plugin's failure stays its own."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial, wraps
from itertools import count
from typing import Any, Generic, TypeVar

from nodewright.api import (
    Decision,
    Estimate,
    GroupFacts,
    Node,
    NodeTemplate,
    Option,
    Outcome,
    PluginError,
    PodSet,
    Problem,
    hookimpl,
)
from nodewright.plugins.faults import Fault, Faults
from nodewright.plugins.hookimpls import HOOKS, SPECIFICATIONS, Implementation, hook_manager, implementations
from nodewright.plugins.results import estimate_for, instance_of, made_from, optional, part_of, words

T = TypeVar("T")

#: How many faults may wait for `Hooks.deliver_faults`; beyond that, the oldest are dropped.
UNDELIVERED = 1000

#: Hooks of which the first refusal counts.
_VETOES = frozenset({"veto_scale_up", "veto_scale_down"})
#: What a failing implementation answers; None where its failure changes nothing.
_ON_FAULT: Mapping[str, object] = {"adjust_candidates": (), "veto_scale_down": "failed, see the log"}

#: Takes what a hook was given, and returns the check of the answers to that.
_CheckFor = Callable[[Any], Callable[[object], object]]

#: The argument that plugins pass on from one to the next, by hook, and the check of what each returns for it.
_CHAINED: Mapping[str, tuple[str, _CheckFor]] = {
    "adjust_groups": (
        "groups",
        lambda given: made_from(given, GroupFacts, lambda group: (f"group {group.provider}/{group.id}",)),
    ),
    "adjust_template": ("template", lambda given: instance_of(NodeTemplate, [given])),
    "adjust_pending_pods": ("pods", lambda given: made_from(given, PodSet, lambda pods: pods.keys)),
    "adjust_estimate": ("estimate", lambda given: estimate_for(given.pods, given.nodes)),
    "adjust_options": (
        "options",
        lambda given: part_of(given, Option, lambda option: f"an option for group {option.group.id}"),
    ),
    "adjust_candidates": ("nodes", lambda given: part_of(given, Node, lambda node: f"node {node.name}")),
}


def answer_check(hook: str, given: Mapping[str, Any]) -> Callable[[object], object]:
    """Return the check of answers to the adjust *hook* when it is *given* this; it raises a `TypeError`."""
    argument, check_for = _CHAINED[hook]
    return check_for(given[argument])


@dataclass(frozen=True, kw_only=True)
class Veto:
    """One plugin's refusal."""

    plugin: str
    reason: str

    def __str__(self) -> str:
        return f"{self.plugin}: {self.reason}"


class Hooks:
    """Calls the hooks of all registered plugins; the meaning of each is written in `nodewright.api.hookspecs`.

    This is one pluggy manager: the plugin that was registered last is called first (tryfirst and trylast count), a
    veto is a hook with ``firstresult``, and observers are called one after the other. What is registered is not the
    plugin itself but a stand-in with a guard round each implementation. The guard notes an exception, or an answer of
    the wrong type, as a fault of the plugin, because pluggy would end the whole call with the exception.

    The adjust hooks differ from pluggy in one thing: each plugin is given what the one before it returned. pluggy gives
    the same arguments to all, so that of two plugins the second would bring back what the first left out.

    For the loop's thread only.
    """

    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._manager = hook_manager()
        self._hook = self._manager.hook
        #: Every plugin with its name and its stand-in.
        self._plugins: list[tuple[object, str, _StandIn]] = []
        #: Hooks that any plugin implements: the others cost nothing.
        self._in_use: frozenset[str] = frozenset()
        self._undelivered: deque[Fault] = deque(maxlen=UNDELIVERED)
        faults.listen(self._remember)

    def register(self, name: str, plugin: object) -> tuple[str, ...]:
        """Register *plugin*, called *name* in logs and metrics, and return the hooks that it implements.

        It is called before those that are registered already. Raises `PluginError` that names the method if a hook of
        it can't work; nothing is registered then.
        """
        return self._register(self._unique(name, set()), name, plugin)

    def register_in_order(self, plugins: Sequence[tuple[str, object]]) -> None:
        """Register *plugins* with their names so that they are called in this order, as YAML reads from the top.

        Those that are registered already change their place. Raises `PluginError` as `register` does; some of them are
        not registered then.
        """
        for _, plugin in plugins:
            self.unregister(plugin)
        taken: set[str] = set()
        named = [(self._unique(name, taken), name, plugin) for name, plugin in plugins]
        for unique, name, plugin in reversed(named):
            self._register(unique, name, plugin)

    def unregister(self, plugin: object) -> None:
        """Forget *plugin*; does nothing if it is not registered."""
        for known in [each for each in self._plugins if each[0] is plugin]:
            self._plugins.remove(known)
            self._manager.unregister(known[2])
            self._note_use()

    def close(self) -> None:
        """Listen to no more faults: the hooks of another configuration take over."""
        self._faults.forget(self._remember)

    def adjust_groups(self, groups: Sequence[GroupFacts]) -> Sequence[GroupFacts]:
        """Return the groups that decisions see."""
        return self._adjust("adjust_groups", groups)

    def adjust_template(self, group: GroupFacts, template: NodeTemplate) -> NodeTemplate:
        """Return what a new node of *group* looks like."""
        return self._adjust("adjust_template", template, group=group)

    def adjust_pending_pods(self, pods: Sequence[PodSet], now: datetime) -> Sequence[PodSet]:
        """Return the pods that need nodes."""
        return self._adjust("adjust_pending_pods", pods, now=now)

    def adjust_estimate(self, group: GroupFacts, pods: Sequence[PodSet], estimate: Estimate) -> Estimate:
        """Return how many nodes of *group* are offered for *pods*."""
        return self._adjust("adjust_estimate", estimate, group=group, pods=pods)

    def adjust_options(self, options: Sequence[Option]) -> Sequence[Option]:
        """Return the options that expanders see."""
        return self._adjust("adjust_options", options)

    def veto_scale_up(self, option: Option, now: datetime) -> Veto | None:
        """Return the first refusal of *option*; None if no plugin refuses. A plugin that fails has not refused."""
        return self._veto("veto_scale_up", option=option, now=now)

    def adjust_candidates(self, nodes: Sequence[Node], now: datetime) -> Sequence[Node]:
        """Return the nodes that may be looked at for removal: none if a plugin fails."""
        return self._adjust("adjust_candidates", nodes, now=now)

    def veto_scale_down(self, node: Node, group: GroupFacts, now: datetime) -> Veto | None:
        """Return the first refusal to remove *node*; None if no plugin refuses. A plugin that fails has refused."""
        return self._veto("veto_scale_down", node=node, group=group, now=now)

    def on_decision(self, decision: Decision) -> None:
        """Report *decision*, and before it all faults that were not delivered yet."""
        self.deliver_faults()
        self._hook.on_decision(decision=decision)

    def on_outcome(self, outcome: Outcome) -> None:
        """Report how an action ended."""
        self._hook.on_outcome(outcome=outcome)

    def on_config_refused(self, problems: Sequence[Problem]) -> None:
        """Report that a changed configuration can't be used."""
        self._hook.on_config_refused(problems=problems)

    def on_config_changed(self) -> None:
        """Report that a new configuration took effect."""
        self._hook.on_config_changed()

    def deliver_faults(self) -> None:
        """Report all faults since the last time. Called by `on_decision`; the loop calls it once more at its end."""
        while self._undelivered:
            fault = self._undelivered.popleft()
            self._hook.on_fault(plugin=fault.plugin, where=fault.where, error=fault.error)

    def _adjust(self, hook: str, value: T, **others: object) -> T:
        """Pass *value* from plugin to plugin, and return what the last one has left."""
        if hook not in self._in_use:
            return value
        # A list is the core's own.
        chain: _Chain[Any] = _Chain(tuple(value) if isinstance(value, list) else value)
        getattr(self._hook, hook)(**{_CHAINED[hook][0]: chain}, **others)
        answer: T = chain.value
        return answer

    def _veto(self, hook: str, **given: object) -> Veto | None:
        veto: Veto | None = getattr(self._hook, hook)(**given) if hook in self._in_use else None
        return veto

    def _register(self, unique: str, name: str, plugin: object) -> tuple[str, ...]:
        if any(known is plugin for known, _, _ in self._plugins):
            raise PluginError(name, f"plugin {name!r} is registered already")
        try:
            found = implementations(type(plugin))
        except ValueError as error:
            raise PluginError(name, f"plugin {name!r} can't be used: {error}") from None
        stand_in = _StandIn({each.method: self._guarded(unique, plugin, each) for each in found})
        self._manager.register(stand_in, name=unique)
        self._plugins.append((plugin, unique, stand_in))
        self._note_use()
        return tuple(each.hook for each in found)

    def _guarded(self, name: str, plugin: object, implementation: Implementation) -> Callable[..., object]:
        """Return what pluggy calls in place of an implementation: it takes what the hook gives, and never raises."""
        hook, takes = implementation.hook, implementation.takes
        function = getattr(plugin, implementation.method)

        def ask(given: Mapping[str, Any], returns: Callable[[object], object]) -> Any:
            call = partial(function, **{argument: given[argument] for argument in takes})
            return self._faults.call(name, hook, call, default=_ON_FAULT.get(hook), returns=returns)

        def adjust(*values: Any) -> None:
            given = dict(zip(HOOKS[hook], values, strict=True))
            argument, _ = _CHAINED[hook]
            chain = given[argument]
            given[argument] = chain.value
            answer = ask(given, optional(answer_check(hook, given)))
            if answer is not None:
                chain.value = answer

        def veto(*values: Any) -> Veto | None:
            reason = ask(dict(zip(HOOKS[hook], values, strict=True)), optional(words))
            return None if reason is None else Veto(plugin=name, reason=reason)

        def observe(*values: Any) -> None:
            ask(dict(zip(HOOKS[hook], values, strict=True)), lambda _: None)

        guard = adjust if hook in _CHAINED else veto if hook in _VETOES else observe
        # With the signature of the specification, so that pluggy gives it all arguments.
        guard = wraps(SPECIFICATIONS[hook])(guard)
        mark = hookimpl(specname=hook, tryfirst=implementation.tryfirst, trylast=implementation.trylast)
        return mark(guard)

    def _note_use(self) -> None:
        self._in_use = frozenset(hook for hook in HOOKS if getattr(self._hook, hook).get_hookimpls())

    def _remember(self, fault: Fault) -> None:
        if fault.where != "on_fault":
            self._undelivered.append(fault)

    def _unique(self, name: str, taken: set[str]) -> str:
        """Return *name*, numbered if another plugin has it, and take it: YAML may name one twice."""
        names = (name if number == 1 else f"{name}-{number}" for number in count(1))
        unique = next(each for each in names if each not in taken and not self._manager.has_plugin(each))
        taken.add(unique)
        return unique


class _StandIn:
    """Has the guarded implementations of one plugin as attributes, where pluggy looks for them."""

    def __init__(self, implementations: Mapping[str, Callable[..., object]]) -> None:
        vars(self).update(implementations)


class _Chain(Generic[T]):
    """A value that plugins pass on from one to the next."""

    def __init__(self, value: T) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)
