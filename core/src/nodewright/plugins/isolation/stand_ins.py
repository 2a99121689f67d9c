"""Stand-ins: they look to the core like plugins, and have each call done in the plugin's process."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, ClassVar, TypeVar

from prometheus_client.registry import Collector

from nodewright.api import (
    DrainContext,
    DrainRule,
    Estimate,
    Estimator,
    Expander,
    ExpanderContext,
    GroupFacts,
    Node,
    NodeTemplate,
    Option,
    PendingPodsProcessor,
    Plugin,
    PluginConfig,
    PluginError,
    Pod,
    PodFate,
    PodSet,
    Prices,
    ProcessorContext,
    ScaleDownCandidatesProcessor,
    Simulation,
    hookimpl,
)
from nodewright.plugins.isolation.failures import error_of
from nodewright.plugins.isolation.metrics import IsolatedCollector, Samples
from nodewright.plugins.isolation.process import PluginProcess
from nodewright.plugins.isolation.servants import ATTRIBUTES, COMMON_ATTRIBUTES, Description

#: How long a strategy may take for an answer.
CALL_SECONDS = 10.0
#: How long metrics may take to be collected.
_COLLECT_SECONDS = 5.0

S = TypeVar("S", bound="StandIn")


class IsolatedConfig(PluginConfig):
    """The settings of a plugin in a process of its own, where they are checked."""

    given: Mapping[str, Any]


class StandIn(Plugin):
    """Stands for a plugin of no particular kind, which has hooks. Each instance has a process of its own."""

    #: Starts another process for the same plugin with the settings given.
    begin: ClassVar[Callable[..., tuple[PluginProcess, object]]]
    #: Optional methods that the plugin has.
    methods: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, config: IsolatedConfig, *extra: object, process: PluginProcess | None = None) -> None:
        self.config = config
        self._process = process or self.begin(config.given, *extra)[0]

    def collectors(self) -> Iterable[Collector]:
        """Return stand-ins of the plugin's collectors."""
        describing = self._ask("collectors")
        return tuple(IsolatedCollector(number, able, self._collect) for number, able in enumerate(describing))

    def close(self) -> None:
        """Close the plugin and end its process."""
        self._process.close()

    def _ask(self, method: str, *arguments: object) -> Any:
        return self._process.call(method, *arguments, seconds=CALL_SECONDS)

    def _collect(self, method: str, number: int) -> Samples:
        samples: Samples = self._process.call(method, number, seconds=_COLLECT_SECONDS)
        return samples


class IsolatedExpander(StandIn, Expander):
    """Stands for an expander."""

    def plan(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option] | None:
        """Return the plugin's plan."""
        return self._traced("plan", options, context) if "plan" in self.methods else None

    def best(self, options: Sequence[Option], context: ExpanderContext) -> Sequence[Option]:
        """Return the plugin's choice."""
        chosen: Sequence[Option] = self._traced("best", options, context)
        return chosen

    def _traced(self, method: str, options: Sequence[Option], context: ExpanderContext) -> Any:
        """Ask for *method*, and leave in *context* what it would have left there: notices, and the state of chance."""
        (fine, answer), notices, state = self._ask(method, options, context)
        context.notices.extend(notices)
        if state is not None:
            context.random.setstate(state)
        if not fine:
            raise error_of(answer)
        return answer


class IsolatedEstimator(StandIn, Estimator):
    """Stands for an estimator."""

    def estimate(self, group: GroupFacts, pods: Sequence[PodSet], simulation: Simulation, limit: int) -> Estimate:
        """Return the plugin's estimate."""
        estimate: Estimate = self._ask("estimate", group, pods, simulation, limit)
        return estimate


class IsolatedPendingPodsProcessor(StandIn, PendingPodsProcessor):
    """Stands for a step of ``processors.pendingPods``."""

    def process(self, pods: Sequence[PodSet], context: ProcessorContext) -> Sequence[PodSet]:
        """Return what the plugin leaves of *pods*."""
        left: Sequence[PodSet] = self._ask("process", pods, context)
        return left


class IsolatedScaleDownCandidatesProcessor(StandIn, ScaleDownCandidatesProcessor):
    """Stands for a step of ``processors.scaleDownCandidates``."""

    def process(self, nodes: Sequence[Node], context: ProcessorContext) -> Sequence[Node]:
        """Return what the plugin leaves of *nodes*."""
        left: Sequence[Node] = self._ask("process", nodes, context)
        return left


class IsolatedDrainRule(StandIn, DrainRule):
    """Stands for a drain rule."""

    def varies(self, pod: Pod, context: DrainContext) -> bool:
        """Tell whether the plugin has to be asked about each single pod."""
        return bool(self._ask("varies", pod, context)) if "varies" in self.methods else super().varies(pod, context)

    def judge(self, pod: Pod, context: DrainContext) -> PodFate | str | None:
        """Return the plugin's judgement."""
        fate: PodFate | str | None = self._ask("judge", pod, context)
        return fate


class IsolatedPrices(StandIn, Prices):
    """Stands for a price model."""

    def node_price(self, template: NodeTemplate, start: Any, end: Any) -> float | None:
        """Return the plugin's price of a node."""
        price: float | None = self._ask("node_price", template, start, end)
        return price

    def pod_price(self, pod: Pod, start: Any, end: Any) -> float | None:
        """Return the plugin's price of a pod."""
        price: float | None = self._ask("pod_price", pod, start, end)
        return price


#: What stands for a plugin, by the name of its class in the contract.
STAND_INS: Mapping[str, type[StandIn]] = {
    "Expander": IsolatedExpander,
    "Estimator": IsolatedEstimator,
    "PendingPodsProcessor": IsolatedPendingPodsProcessor,
    "ScaleDownCandidatesProcessor": IsolatedScaleDownCandidatesProcessor,
    "DrainRule": IsolatedDrainRule,
    "Prices": IsolatedPrices,
    "Plugin": StandIn,
}


def stand_in_class(
    plugin: str, base: type[S], described: Description, begin: Callable[..., tuple[PluginProcess, object]]
) -> type[S]:
    """Return a class that looks like the one *described*. Raises `PluginError` if nothing can look like that."""
    wanted = next((names for kind, names in ATTRIBUTES.items() if kind.__name__ == described.base), ())
    attributes = {name: described.attributes[name] for name in (*COMMON_ATTRIBUTES, *wanted)}
    hooks = {method: _hook(method, hook, takes, first, last) for method, hook, takes, first, last in described.hooks}
    if odd := [name for name in hooks if name.startswith("_") or hasattr(base, name)]:
        raise PluginError(plugin, f"its hook {odd[0]} can't run in a process of its own: give the method another name")
    given = {"begin": staticmethod(begin), "methods": frozenset(described.methods), "__module__": __name__}
    return type(described.name, (base,), attributes | hooks | given)


def _hook(method: str, hook: str, takes: Sequence[str], first: bool, last: bool) -> Callable[..., Any]:
    """Return a method that has the plugin's *hook* called in its process."""

    def ask(self: StandIn, **given: object) -> Any:
        return self._ask(method, given)

    ask.__name__ = method
    parameters = [Parameter("self", Parameter.POSITIONAL_ONLY)]
    parameters += [Parameter(name, Parameter.KEYWORD_ONLY) for name in takes]
    ask.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return hookimpl(specname=hook, tryfirst=first, trylast=last)(ask)
