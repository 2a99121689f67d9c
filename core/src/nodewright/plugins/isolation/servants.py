"""Servants: what Nodewright may ask of a plugin in its process, by the kind of plugin."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from threading import Lock
from typing import Any

from nodewright.api import (
    Capability,
    DrainRule,
    Estimator,
    Expander,
    ExpanderContext,
    GroupNotFoundError,
    GroupOptions,
    Node,
    NodeGroup,
    NodeTemplate,
    PendingPodsProcessor,
    Plugin,
    Pod,
    Prices,
    PricingModel,
    Provider,
    ScaleDownCandidatesProcessor,
)
from nodewright.plugins.hookimpls import implementations
from nodewright.plugins.isolation.failures import failure_of
from nodewright.plugins.isolation.metrics import Samples, samples_of

#: A value, or the `Failure` to get it: whether it is the value comes first.
Attempt = tuple[bool, Any]

#: What Nodewright reads of every plugin without a call.
COMMON_ATTRIBUTES = ("pod_annotations",)
#: What it reads besides, by the class that has it.
ATTRIBUTES: Mapping[type, tuple[str, ...]] = {
    Provider: ("capabilities", "gpu_label", "balancing_ignored_labels"),
    Expander: ("asks_outside", "config_map"),
    Estimator: ("by_template",),
    PendingPodsProcessor: ("reason", "adds_pods"),
    ScaleDownCandidatesProcessor: ("reason",),
    DrainRule: ("alike",),
    Prices: ("currency",),
}
#: Methods with a default, which is not asked for over there.
OPTIONAL: Mapping[type, tuple[str, ...]] = {Expander: ("plan",), DrainRule: ("varies",)}


@dataclass(frozen=True, kw_only=True)
class Description:
    """What Nodewright has to know of a plugin to put something in its place."""

    #: The plugin's class, and the class of the contract that makes it what it is.
    name: str
    base: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    #: Which optional methods it has.
    methods: tuple[str, ...] = ()
    #: Method, hook, arguments, ``tryfirst`` and ``trylast`` of each hook.
    hooks: tuple[tuple[str, str, tuple[str, ...], bool, bool], ...] = ()


class Servant(ABC):
    """Answers for one plugin."""

    @abstractmethod
    def do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return what *method* returns; raises whatever it raises."""


class _Done(Servant):
    """Answers for nothing: all that was to be done is done."""

    def do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Do nothing."""


def servant_of(function: Callable[..., object], *arguments: object) -> tuple[Servant, Any]:
    """Return a servant for what *function* returns, and what Nodewright is to know of that.

    Of a plugin, this is a `Description` as plain values; anything else is all that is wanted.
    """
    made = function(*arguments)
    if not isinstance(made, Plugin):
        return _Done(), made
    return (ProviderServant(made) if isinstance(made, Provider) else StrategyServant(made)), _described(made)


def _described(plugin: Plugin) -> dict[str, Any]:
    base = next((each for each in ATTRIBUTES if isinstance(plugin, each)), Plugin)
    described = Description(
        name=type(plugin).__name__,
        base=base.__name__,
        attributes={each: getattr(plugin, each) for each in (*COMMON_ATTRIBUTES, *ATTRIBUTES.get(base, ()))},
        methods=tuple(
            each for each in OPTIONAL.get(base, ()) if getattr(type(plugin), each) is not getattr(base, each)
        ),
        hooks=tuple(
            (each.method, each.hook, each.takes, each.tryfirst, each.trylast) for each in implementations(type(plugin))
        ),
    )
    return vars(described)


class StrategyServant(Servant):
    """Calls the methods of a plugin by name."""

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self._collectors: tuple[Any, ...] = ()

    def do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return what *method* returns."""
        if method == "collectors":
            self._collectors = tuple(self._plugin.collectors())
            return tuple(hasattr(each, "describe") for each in self._collectors)
        if method in ("collect", "describe"):
            return self._samples(self._collectors[arguments[0]], method)
        function = getattr(self._plugin, method)
        if isinstance(self._plugin, Expander) and method in ("best", "plan"):
            return _with_traces(function, *arguments)
        hook = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], dict) else None
        return function(*arguments) if hook is None else function(**hook)

    def _samples(self, collector: Any, method: str) -> Samples:
        return samples_of(getattr(collector, method)())


def _with_traces(
    function: Callable[..., object], options: Sequence[object], context: ExpanderContext
) -> tuple[Attempt, Sequence[object], Any]:
    """Return what *function* does, and its traces in *context*: notices, and the state of chance if that changed."""
    before, told = context.random.getstate(), len(context.notices)
    try:
        answer: Attempt = True, function(options, context)
    except MemoryError:
        raise
    except BaseException as error:
        answer = False, failure_of(error)
    after = context.random.getstate()
    return answer, context.notices[told:], None if after == before else after


class ProviderServant(StrategyServant):
    """Answers for a provider: all facts of all groups at once, of which only what has changed is sent."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider)
        self._provider = provider
        self._groups: dict[str, NodeGroup] | None = None
        self._pricing: PricingModel | None = None
        #: What Nodewright knows of each group.
        self._sent: dict[str, dict[str, Attempt]] = {}
        self._reading = Lock()
        self._own: Mapping[str, Callable[..., Any]] = {
            "refresh": self._refresh,
            "options": self._options,
            "act": self._act,
            "place": self._place,
            "gpu_config": provider.gpu_config,
            "node_price": self._node_price,
            "pod_price": self._pod_price,
        }

    def do(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return what *method* returns."""
        own = self._own.get(method)
        return super().do(method, arguments) if own is None else own(*arguments)

    def _refresh(self, now: datetime, defaults: GroupOptions) -> dict[str, Any]:
        with self._reading:
            provider = self._provider
            provider.refresh()
            pricing = _try(provider.pricing) if Capability.PRICES in provider.capabilities else (True, None)
            limits = _try(provider.resource_limits)
            found = _try(lambda: {group.id: group for group in provider.groups()})
            self._pricing = pricing[1] if pricing[0] else None
            groups: dict[str, NodeGroup] = found[1] if found[0] else {}
            facts = {name: self._facts(group, now, defaults) for name, group in groups.items()}
            changed = {name: _changed(each, self._sent.get(name, {})) for name, each in facts.items()}
            self._groups, self._sent = groups, facts
            return {
                "pricing": (True, getattr(pricing[1], "currency", None)) if pricing[0] else pricing,
                "limits": limits,
                "groups": (True, tuple(groups)) if found[0] else found,
                "facts": {name: each for name, each in changed.items() if each},
            }

    def _facts(self, group: NodeGroup, now: datetime, defaults: GroupOptions) -> dict[str, Attempt]:
        abilities = self._provider.capabilities
        facts = {
            "min_size": _try(lambda: group.min_size),
            "max_size": _try(lambda: group.max_size),
            "target_size": _try(lambda: group.target_size),
            "instances": _try(lambda: tuple(group.instances())),
            "template": _try(group.template) if Capability.SCALE_FROM_ZERO in abilities else (True, None),
            "options": _try(lambda: group.options(defaults)),
            "pools": _try(lambda: tuple(group.pools())),
            "quotas": _try(lambda: dict(group.quotas())),
            "available": _try(group.available),
            "errors": _try(lambda: tuple(group.errors())),
            "pause": _try(group.pause),
            "atomic": _try(lambda: group.atomic) if Capability.ATOMIC_INCREASE in abilities else (True, False),
        }
        template = facts["template"][1]
        if isinstance(template, NodeTemplate):
            if self._pricing is not None:
                pricing = self._pricing
                facts["price"] = _try(lambda: pricing.node_price(template, now, now + timedelta(hours=1)))
            if self._provider.gpu_label and self._provider.gpu_label in template.labels:
                facts["gpu"] = _try(lambda: self._provider.gpu_config(template.labels))
        return facts

    def _options(self, defaults: GroupOptions) -> dict[str, Attempt]:
        return {name: _try(partial(group.options, defaults)) for name, group in self._ready().items()}

    def _act(self, group: str, action: str, *arguments: Any) -> None:
        groups = self._ready()
        if group not in groups:
            raise GroupNotFoundError(f"the provider has no group {group!r} any more")
        getattr(groups[group], action)(*arguments)

    def _place(self, nodes: Sequence[Node], labels: Sequence[Mapping[str, str]]) -> tuple[list[Attempt], list[Attempt]]:
        provider = self._provider
        # As everywhere, a provider may be asked while it reads its cloud for the first time.
        if not self._reading.locked():
            self._ready()
        return (
            [_try(partial(provider.group_of, node)) for node in nodes],
            [_try(partial(provider.gpu_config, shown)) for shown in labels],
        )

    def _node_price(self, template: NodeTemplate, start: datetime, end: datetime) -> float | None:
        return None if self._pricing is None else self._pricing.node_price(template, start, end)

    def _pod_price(self, pod: Pod, start: datetime, end: datetime) -> float | None:
        return None if self._pricing is None else self._pricing.pod_price(pod, start, end)

    def _ready(self) -> dict[str, NodeGroup]:
        """Return the groups; in a process that was started again, read the cloud first."""
        if self._groups is None:
            with self._reading:
                if self._groups is None:
                    self._provider.refresh()
                    self._groups = {group.id: group for group in self._provider.groups()}
        return self._groups


def _try(ask: Callable[[], object]) -> Attempt:
    try:
        return True, ask()
    except MemoryError:
        raise
    except BaseException as error:
        return False, failure_of(error)


def _changed(facts: Mapping[str, Attempt], known: Mapping[str, Attempt]) -> dict[str, Attempt]:
    return {name: fact for name, fact in facts.items() if name not in known or not _same(fact, known[name])}


def _same(one: Attempt, other: Attempt) -> bool:
    try:
        return one[0] == other[0] and type(one[1]) is type(other[1]) and bool(one[1] == other[1])
    except Exception:
        return False
