"""A session: everything that one configuration brings to life, from its plugins to the executor."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from prometheus_client.registry import Collector

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.api.plugin import Plugin
from nodewright.cluster import Cluster
from nodewright.config.effective import default_options
from nodewright.config.model import Settings
from nodewright.config.providers import provider_context
from nodewright.decision.decide import Decided, decide, decide_growth
from nodewright.decision.execution import Execution, Hold
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.explain.look import Look
from nodewright.kube.nodes import Evictor, NodeWriter, TaintLatency
from nodewright.kube.rate_limiter import BlockingRateLimiter
from nodewright.kube.transport import Transport
from nodewright.plugins import Faults, Registry
from nodewright.plugins.pricing import GuardedPricing
from nodewright.plugins.results import instance_of
from nodewright.runtime.executor import DryRunExecutor, Executor
from nodewright.runtime.held import HeldGroups
from nodewright.runtime.providers import ProviderReport, Providers
from nodewright.runtime.strategies import Strategies
from nodewright.scenario.scenario import Picture


class Session:
    """Observes, decides and acts under one configuration. For the loop's thread only.

    *observers* are plugins whose hooks are called besides those that the configuration names. *permit* is called before
    each change, on any thread; while it raises `NotLeaderError`, nothing is changed.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        transport: Transport,
        clock: Clock,
        faults: Faults,
        taint_latency: TaintLatency,
        permit: Callable[[], None],
        observers: Mapping[str, Plugin],
    ) -> None:
        self.settings = settings
        self._registry = registry
        self._faults = faults
        self._clock = clock
        #: Why providers could not be read the last time, by the name of each.
        self._unreadable: Mapping[str, str] = {}
        self._taint_latency = taint_latency
        self._strategies = Strategies(registry, faults)
        self.policy = self._strategies.policy(settings)
        #: Names of the ConfigMaps that strategies want to read.
        self.config_maps = _wanted_config_maps(self.policy)
        self._defaults = default_options(settings)
        context = provider_context(settings, clock)
        providers, prices = self._strategies.providers(settings, context), self._strategies.prices(settings)
        self._providers = Providers(providers, clock, faults, prices)
        self._held = HeldGroups()
        self._executor: Executor | DryRunExecutor
        if settings.dry_run:
            self._executor = DryRunExecutor()
        else:
            limiter = BlockingRateLimiter(settings.kube.qps, settings.kube.burst)

            def gate() -> None:
                # In this order: the lease may be lost during a long wait.
                limiter.wait()
                permit()

            writing = transport.through(gate)
            self._executor = Executor(
                self._providers,
                NodeWriter(writing, taint_latency, cordon=settings.scale_down.cordon),
                Evictor(writing),
                self._held,
                clock,
                faults,
                parallel=settings.scale_up.parallel,
                timeout=settings.loop.action_timeout,
                time_for_hints=settings.scale_down.soft_taints.max_time,
                permit=permit,
            )
        self._observed_annotations = frozenset[str]()
        for name, observer in observers.items():
            self.policy.hooks.register(name, observer)
            self._observed_annotations |= observer.pod_annotations

    def collectors(self) -> Mapping[str, Sequence[Collector]]:
        """Return the metrics that plugins have of their own, by plugin."""
        return self._strategies.collectors()

    @property
    def pod_annotations(self) -> frozenset[str]:
        """The annotations of pods that plugins read. Providers that come late may add some."""
        return self._strategies.pod_annotations | self._observed_annotations

    @property
    def busy(self) -> bool:
        """Whether an action that took too long is still under way."""
        return self._executor.busy

    @property
    def active(self) -> bool:
        """Whether any action is under way. Safe to ask from any thread."""
        return self._executor.active

    @property
    def unreadable(self) -> str:
        """Why no provider at all could be read the last time; empty if one could, or if none is configured."""
        if self._providers.any_readable or not self.settings.providers:
            return ""
        return "; ".join(f"provider {name} can't be read: {why}" for name, why in self._unreadable.items())

    @property
    def breather(self) -> timedelta:
        """How long it takes until no cloud has refused a call a moment ago."""
        return self._providers.pace.breather

    @property
    def held(self) -> Mapping[str, Hold]:
        """Groups that may have taken an order that no reading of their provider shows yet, by id."""
        return self._held.all

    def late_outcomes(self) -> tuple[Outcome, ...]:
        """Return the outcomes of actions that took too long and have ended since the last call."""
        return self._executor.late_outcomes()

    def retry(self) -> bool:
        """Try again to make the providers that could not be made, at growing intervals; return whether one was made."""
        made = self._strategies.retry(self._clock.now())
        for name, provider in made.items():
            self._providers.add(name, provider)
        return bool(made)

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """Return the group that an object names in a cloud's own words; None if it names none."""
        return self._providers.resolve(kind, id)

    def observe(self, cluster: Cluster, outcomes: tuple[Outcome, ...]) -> World:
        """Read the providers and return the world as it is, with the *outcomes* of actions of the last loop."""
        with self.policy.timings.time("cloudProviderRefresh"):
            report = self._providers.read(cluster.nodes, self._defaults, self.settings.loop.refresh_timeout)
        self._unreadable = {**report.unreadable, **self._strategies.left_out}
        self._held.read(report.outdated | {facts.id for facts in report.groups if facts.error})
        return self._world(cluster, report, outcomes)

    def decide(self, world: World, memory: Memory, now: datetime, *, in_depth: bool = False) -> Decided:
        """Decide by this session's policy."""
        return decide(world, memory, self.policy, now, in_depth=in_depth)

    def decide_growth(self, world: World, memory: Memory, now: datetime) -> Decided:
        """Decide by this session's policy which other groups to grow after growth failed."""
        return decide_growth(world, memory, self.policy, now)

    def act(self, decision: Decision, world: World) -> Execution:
        """Carry *decision* out, which was made on *world*. Blocks until that is done, or has taken too long."""
        execution = self._executor.carry_out(decision, world.cluster.nodes)
        self._providers.resize(execution.sizes)
        self._held.doubt(execution.doubts)
        return execution

    def look(self, world: World, memory: Memory, now: datetime) -> Look:
        """Decide and return everything about it. Do nothing of it."""
        decision, memory, findings = self.decide(world, memory, now, in_depth=True)
        return Look(world=world, decision=decision, memory=memory, findings=findings)

    def picture(self, world: World, memory: Memory, now: datetime) -> Picture:
        """Return all that a decision on *world* would go by."""
        pricing = {name: GuardedPricing(name, model, self._faults) for name, model in world.pricing.items()}
        return Picture(
            world=world, memory=memory, settings=self.settings, now=now, classes=self._registry, pricing=pricing
        )

    def close(self) -> None:
        """Release all plugins and end all threads. Waits for actions under way that are not late yet."""
        self._executor.close()
        self._providers.close()
        self._strategies.close()

    def _world(self, cluster: Cluster, report: ProviderReport, outcomes: tuple[Outcome, ...]) -> World:
        held = self._held.all
        return World(
            cluster=cluster,
            groups=tuple(held[facts.id].over(facts) if facts.id in held else facts for facts in report.groups),
            group_of=report.group_of,
            gpus=report.gpus,
            group_gpus=report.group_gpus,
            resource_limits=report.resource_limits,
            balancing_ignored_labels=report.balancing_ignored_labels,
            unreadable=self._unreadable,
            outcomes=outcomes,
            pricing=report.pricing,
            taint_latency=self._taint_latency.longest,
            config_maps={
                name: config_map.data
                for name in self.config_maps
                if (config_map := cluster.config_maps.get(f"{self.settings.namespace}/{name}"))
            },
        )


def _wanted_config_maps(policy: Policy) -> tuple[str, ...]:
    """Return the names of the ConfigMaps that the expanders of *policy* ask for."""
    names = (
        policy.faults.call(name, "config_map", getattr, expander, "config_map", default="", returns=instance_of(str))
        for name, expander in policy.expanders.items()
    )
    return tuple(dict.fromkeys(filter(None, names)))
