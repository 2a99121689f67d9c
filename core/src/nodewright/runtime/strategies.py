"""The plugins that a configuration names: makes them, and leaves out those that can't be made."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar, cast

from prometheus_client.registry import Collector

from nodewright.api.drain_rule import DrainRule
from nodewright.api.errors import PluginError
from nodewright.api.estimator import Estimator
from nodewright.api.expander import Expander
from nodewright.api.plugin import Plugin
from nodewright.api.pricing import Prices, PricingModel
from nodewright.api.processor import PendingPodsProcessor, ScaleDownCandidatesProcessor
from nodewright.api.provider import Provider, ProviderContext
from nodewright.config.model import Reference, Settings
from nodewright.config.reference import unique_name
from nodewright.decision.policy import Policy
from nodewright.plugins import Faults, Hooks, Registry
from nodewright.plugins.annotations import declared_annotations
from nodewright.plugins.faults import describe
from nodewright.plugins.pricing import GuardedPricing
from nodewright.plugins.results import sequence_of
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.drain_rules import MissingDrainRule

P = TypeVar("P", bound=Plugin)

_log = logging.getLogger(__name__)


class Strategies:
    """Makes the plugins of one configuration. One that can't be made is named and left out; the others are used."""

    def __init__(self, registry: Registry, faults: Faults) -> None:
        self._registry = registry
        self._faults = faults
        self._hooks = Hooks(faults)
        self._made: list[tuple[str, Plugin]] = []
        self._pod_annotations: frozenset[str] = frozenset()

    def policy(self, settings: Settings) -> Policy:
        """Return the policy of *settings*, with its strategies and hooks."""
        estimators = self._make("estimators", (settings.scale_up.estimator,), Estimator)
        if not estimators:
            _log.warning("the estimator can't be used: binpacking takes its place")
            estimators = {"binpacking": Binpacking(Binpacking.Config())}
        self._make("hooks", settings.hooks, Plugin)
        processors = settings.processors
        policy = Policy(
            settings=settings,
            estimator=next(iter(estimators.items())),
            expanders=self._make("expanders", settings.scale_up.expanders, Expander),
            pending_pods=self._make("processors", processors.pending_pods, PendingPodsProcessor),
            scale_down_candidates=self._make(
                "processors", processors.scale_down_candidates, ScaleDownCandidatesProcessor
            ),
            drain_rules=self._drain_rules(settings.scale_down.drain_rules),
            hooks=self._hooks,
            faults=self._faults,
            pod_annotations=self._pod_annotations,
        )
        self._hooks.register_in_order(self._made)
        return policy

    def providers(self, settings: Settings, context: ProviderContext) -> Mapping[str, Provider]:
        """Return the providers of *settings*. Their hooks are called after those of the policy."""
        providers = self._make("providers", settings.providers, Provider, context)
        self._hooks.register_in_order(self._made)
        return providers

    def prices(self, settings: Settings) -> Sequence[PricingModel]:
        """Return the pricing models that lie over those of the providers. Their hooks are called last."""
        prices = self._make("prices", settings.prices, Prices)
        self._hooks.register_in_order(self._made)
        return [GuardedPricing(name, model, self._faults) for name, model in prices.items()]

    @property
    def pod_annotations(self) -> frozenset[str]:
        """The annotations of pods that the plugins made so far read."""
        return self._pod_annotations

    def collectors(self) -> Mapping[str, Sequence[Collector]]:
        """Return the metrics of all plugins made so far, by name."""
        collectors: dict[str, list[Collector]] = {}
        for name, plugin in self._made:
            none: tuple[Collector, ...] = ()
            own = self._faults.call(name, "collectors", plugin.collectors, default=none, returns=_collectors)
            collectors.setdefault(name, []).extend(own)
        return collectors

    def close(self) -> None:
        """Close all plugins but providers, which `Providers` closes."""
        for name, plugin in self._made:
            if not isinstance(plugin, Provider):
                self._faults.call(name, "close", plugin.close, default=None)
        self._hooks.close()

    def _drain_rules(self, references: Iterable[Reference]) -> Mapping[str, DrainRule]:
        """Return the drain rules; one that can't be made is replaced by a rule that keeps all nodes."""
        made: dict[str, DrainRule] = {}
        for reference in references:
            found = self._make("drain_rules", (reference,), DrainRule)
            rule = found.get(reference.name) or MissingDrainRule(MissingDrainRule.Config())
            made[unique_name(reference.name, made)] = rule
        return made

    def _make(self, kind: str, references: Iterable[Reference], base: type[P], *extra: object) -> dict[str, P]:
        made: dict[str, P] = {}
        for reference in references:
            try:
                plugin = self._registry.create(kind, reference.name, reference.config, *extra)
                if not isinstance(plugin, base):
                    raise PluginError(reference.name, f"{reference.name!r} is no {base.__name__}: it belongs elsewhere")
                annotations = _annotations_of(reference.name, plugin)
                # Here, because one that can't be registered is left out; what was made is put in order later.
                self._hooks.register(reference.name, plugin)
            except PluginError as error:
                self._faults.note(reference.name, "load", error)
                continue
            self._pod_annotations |= annotations
            self._made.append((reference.name, plugin))
            made[unique_name(reference.name, made)] = plugin
        return made


def _annotations_of(name: str, plugin: Plugin) -> frozenset[str]:
    try:
        return declared_annotations(plugin)
    except Exception as error:
        raise PluginError(name, f"{name!r} can't be used: {describe(error)}") from None


def _collectors(found: object) -> tuple[Collector, ...]:
    """Expect collectors. Their method tells them, as not all releases of the library have a class that does."""
    each_of = sequence_of(object)(tuple(found) if isinstance(found, Iterable) else found)
    for each in each_of:
        if not callable(getattr(each, "collect", None)):
            raise TypeError(f"returned a sequence with {type(each).__name__} in it instead of collectors")
    return cast("tuple[Collector, ...]", each_of)
