"""The plugins that a configuration names: makes them, and leaves out those that can't be made."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import methodcaller
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
from nodewright.config.plugins import make
from nodewright.config.reference import unique_name
from nodewright.decision.policy import Policy
from nodewright.plugins import Faults, Hooks, Registry
from nodewright.plugins.annotations import declared_annotations
from nodewright.plugins.error_text import describe
from nodewright.plugins.hookimpls import implementations
from nodewright.plugins.pricing import GuardedPricing
from nodewright.plugins.results import flag, sequence_of
from nodewright.strategies.binpacking import Binpacking
from nodewright.strategies.missing import MissingCandidates, MissingDrainRule, MissingVeto

P = TypeVar("P", bound=Plugin)

_log = logging.getLogger(__name__)


#: How long a provider that can't be made is left alone; each time twice as long.
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class _LeftOut:
    """A provider that could not be made."""

    reference: Reference
    context: ProviderContext
    next_try: datetime
    #: How long the try after that one has to wait if it fails.
    pause: timedelta
    reason: str = ""


class Strategies:
    """Makes the plugins of one configuration. One that can't be made is named and left out; the others are used."""

    def __init__(self, registry: Registry, faults: Faults) -> None:
        self._registry = registry
        self._faults = faults
        self._hooks = Hooks(faults)
        self._made: list[tuple[str, Plugin]] = []
        #: The metrics of each of these, from the first on, as far as they were asked.
        self._collectors: list[tuple[str, tuple[Collector, ...]]] = []
        self._pod_annotations: frozenset[str] = frozenset()
        #: Providers that are named and could not be made.
        self._unmade: dict[str, _LeftOut] = {}

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
                "processors",
                processors.scale_down_candidates,
                ScaleDownCandidatesProcessor,
                missing=MissingCandidates,
            ),
            drain_rules=self._make("drain_rules", settings.scale_down.drain_rules, DrainRule, missing=MissingDrainRule),
            hooks=self._hooks,
            faults=self._faults,
            pod_annotations=self._pod_annotations,
        )
        self._hooks.register_in_order(self._made)
        return policy

    def providers(self, settings: Settings, context: ProviderContext) -> Mapping[str, Provider]:
        """Return the providers of *settings*. Their hooks are called after those of the policy.

        Those that can't be made are in `left_out`, and `retry` tries again.
        """
        named: dict[str, Reference] = {}
        for reference in settings.providers:
            named[unique_name(reference.name, named)] = reference
        self._unmade = {
            name: _LeftOut(reference=reference, context=context, next_try=context.clock.now(), pause=_FIRST_PAUSE)
            for name, reference in named.items()
        }
        return self.retry(context.clock.now())

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why providers could not be made, by the name of each."""
        return {name: each.reason for name, each in self._unmade.items()}

    def retry(self, now: datetime) -> Mapping[str, Provider]:
        """Return the providers that were left out and could be made at *now*; each is tried at growing intervals."""
        made: dict[str, Provider] = {}
        for name, each in list(self._unmade.items()):
            if now < each.next_try:
                continue
            try:
                made[name] = self._made_from("providers", each.reference, Provider, each.context)
            except PluginError as error:
                pause = min(2 * each.pause, _LONGEST_PAUSE)
                self._unmade[name] = replace(each, reason=str(error), next_try=now + each.pause, pause=pause)
            else:
                del self._unmade[name]
        if made:
            self._hooks.register_in_order(self._made)
        return made

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
        for name, plugin in self._made[len(self._collectors) :]:
            none: tuple[Collector, ...] = ()
            own = self._faults.call(
                name, "collectors", methodcaller("collectors"), plugin, default=none, returns=_collectors
            )
            self._collectors.append((name, own))
        collectors: dict[str, list[Collector]] = {}
        for name, own in self._collectors:
            collectors.setdefault(name, []).extend(own)
        return collectors

    def close(self) -> None:
        """Close all plugins but providers, which `Providers` closes."""
        for name, plugin in self._made:
            if not isinstance(plugin, Provider):
                self._faults.call(name, "close", methodcaller("close"), plugin, default=None)
        self._hooks.close()

    def _make(
        self, kind: str, references: Iterable[Reference], base: type[P], *, missing: type[P] | None = None
    ) -> dict[str, P]:
        """Return the plugins of *references* that can be made; in the place of each other one, a *missing*, if given.

        One that may have protected nodes by a hook is replaced by a veto of all removals.
        """
        made: dict[str, P] = {}
        for reference in references:
            name = unique_name(reference.name, made)
            try:
                made[name] = self._made_from(kind, reference, base)
            except PluginError:
                if missing is not None:
                    made[name] = missing(missing.Config())
                if self._may_protect(kind, reference):
                    veto = MissingVeto(MissingVeto.Config())
                    self._hooks.register(reference.name, veto)
                    self._made.append((reference.name, veto))
        return made

    def _may_protect(self, kind: str, reference: Reference) -> bool:
        """Return whether a plugin that can't be made may keep nodes by a hook; of hook plugins, that is assumed."""
        if reference.isolation is not None:
            return kind == "hooks"
        try:
            hooks = implementations(self._registry.load(kind, reference.name))
        except PluginError:
            return kind == "hooks"
        return any(each.hook in ("veto_scale_down", "adjust_candidates") for each in hooks)

    def _made_from(self, kind: str, reference: Reference, base: type[P], *extra: object) -> P:
        """Make a plugin; one that can't be made or registered is noted, and raises `PluginError`."""
        try:
            plugin = self._create(kind, reference, *extra)
            if not isinstance(plugin, base):
                raise PluginError(reference.name, f"{reference.name!r} is no {base.__name__}: it belongs elsewhere")
            annotations = self._annotations_of(reference.name, plugin)
            # Here, because one that can't be registered is left out; what was made is put in order later.
            self._hooks.register(reference.name, plugin)
        except PluginError as error:
            self._faults.note(reference.name, "load", error)
            raise
        self._pod_annotations |= annotations
        self._made.append((reference.name, plugin))
        return plugin

    def _annotations_of(self, name: str, plugin: Plugin) -> frozenset[str]:
        try:
            with self._faults.calling(name, "load"):
                return declared_annotations(plugin)
        except Exception as error:
            raise PluginError(name, f"{name!r} can't be used: {describe(error)}") from None

    def _create(self, kind: str, reference: Reference, *extra: object) -> Plugin:
        name = reference.name
        if reference.isolation is not None:
            self._faults.trust(name)
            return make(self._registry, kind, reference, *extra, note=self._faults.note)
        self._faults.watch(name, may_start_programs=kind == "providers")
        with self._faults.calling(name, "load"):
            plugin = self._registry.create(kind, name, reference.config, *extra)
        if type(plugin).__module__.startswith("nodewright."):
            self._faults.trust(name)
        elif hasattr(type(plugin), "asks_outside") and flag(self._faults, name, plugin, "asks_outside"):
            self._faults.watch(name, may_start_programs=True)
        return plugin


def _collectors(found: object) -> tuple[Collector, ...]:
    """Expect collectors. Their method tells them, as not all releases of the library have a class that does."""
    each_of = sequence_of(object, "collectors")(tuple(found) if isinstance(found, Iterable) else found)
    for each in each_of:
        if not callable(getattr(each, "collect", None)):
            raise TypeError(f"returned a sequence with {type(each).__name__} in it instead of collectors")
    return cast("tuple[Collector, ...]", each_of)
