"""A session: everything that one configuration brings to life, from its plugins to the actor."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from prometheus_client.registry import Collector

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.api.group import GroupOptions
from nodewright.cluster import Cluster
from nodewright.config.effective import default_options
from nodewright.config.model import Settings
from nodewright.config.providers import provider_context
from nodewright.decision.aftermath import Aftermath, Held
from nodewright.decision.decide import decide, decide_growth
from nodewright.decision.findings import Particulars
from nodewright.decision.memory import Memory
from nodewright.decision.policy import Policy
from nodewright.decision.world import World
from nodewright.kube.allowance import Allowance
from nodewright.kube.evictions import Evictor
from nodewright.kube.nodes import NodeWriter
from nodewright.kube.taint_latency import TaintLatency
from nodewright.kube.transport import Transport
from nodewright.plugins import Faults, Registry
from nodewright.plugins.results import instance_of
from nodewright.runtime.actor import Actor
from nodewright.runtime.providers import Providers
from nodewright.runtime.strategies import Strategies
from nodewright.runtime.withheld import WithheldActor


class Session:
    """Observes, decides and acts under one configuration. For the loop's thread only.

    *permit* is called before anything is changed, on any thread; while it raises `NotLeaderError`, nothing is.
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
    ) -> None:
        self.settings = settings
        self._strategies = Strategies(registry, faults)
        self.policy = self._strategies.policy(settings)
        #: Names of the ConfigMaps that strategies want to read.
        self.config_maps = _wanted_config_maps(self.policy)
        self._defaults: GroupOptions = default_options(settings)
        context = provider_context(settings, clock)
        self._providers = Providers(self._strategies.providers(settings, context), clock, faults)
        self._actor: Actor | WithheldActor
        if settings.dry_run:
            self._actor = WithheldActor()
        else:
            allowance = Allowance(settings.kube.qps, settings.kube.burst)

            def gate() -> None:
                # In this order: what was allowed before a long wait may not be any more after it.
                allowance.spend()
                permit()

            acting = transport.through(gate)
            self._actor = Actor(
                self._providers,
                NodeWriter(acting, taint_latency, cordon=settings.scale_down.cordon),
                Evictor(acting),
                clock,
                faults,
                parallel=settings.scale_up.parallel,
                timeout=settings.loop.action_timeout,
                time_for_hints=settings.scale_down.soft_taints.max_time,
                permit=permit,
            )
        self._taint_latency = taint_latency
        #: Groups that may have taken an order and were not read since, by id.
        self._held: Mapping[str, Held] = {}

    def collectors(self) -> Mapping[str, Sequence[Collector]]:
        """Return the metrics that plugins have of their own, by plugin."""
        return self._strategies.collectors()

    @property
    def busy(self) -> bool:
        """Whether an action that took too long is still under way."""
        return self._actor.busy

    @property
    def sighted(self) -> bool:
        """Whether at least one provider could be read the last time, or there is none."""
        return self._providers.sighted

    @property
    def held(self) -> Mapping[str, Held]:
        """Groups that may have taken an order of which nobody knows yet, by id."""
        return {**self._held, **self._actor.held}

    def ended(self) -> tuple[Outcome, ...]:
        """Return the outcomes of actions that took too long and have ended since the last time."""
        self._held = {**self._held, **self._actor.held}
        return self._actor.ended()

    def observe(self, cluster: Cluster, outcomes: tuple[Outcome, ...]) -> World:
        """Read the providers and return the world as it is."""
        under_way = self._actor.held
        with self.policy.stages.time("cloudProviderRefresh"):
            report = self._providers.read(cluster.nodes, self._defaults, self.settings.loop.refresh_timeout)
        old = report.outdated | {facts.id for facts in report.groups if facts.error}
        self._held = {**{group: held for group, held in self._held.items() if group in old}, **under_way}
        return World(
            cluster=cluster,
            groups=tuple(
                self._held[facts.id].over(facts) if facts.id in self._held else facts for facts in report.groups
            ),
            group_of=report.group_of,
            gpus=report.gpus,
            group_gpus=report.group_gpus,
            resource_limits=report.resource_limits,
            balancing_ignored_labels=report.balancing_ignored_labels,
            outcomes=outcomes,
            pricing=report.pricing,
            taint_latency=self._taint_latency.longest,
            config_maps={
                name: config_map.data
                for name in self.config_maps
                if (config_map := cluster.config_maps.get(f"{self.settings.namespace}/{name}"))
            },
        )

    def decide(
        self, world: World, memory: Memory, now: datetime, particulars: Particulars | None = None
    ) -> tuple[Decision, Memory]:
        """Decide by this session's policy."""
        return decide(world, memory, self.policy, now, particulars)

    def decide_growth(self, world: World, memory: Memory, now: datetime) -> tuple[Decision, Memory]:
        """Decide by this session's policy how else to grow after growth failed."""
        return decide_growth(world, memory, self.policy, now)

    def act(self, decision: Decision, world: World) -> Aftermath:
        """Carry a decision out."""
        aftermath = self._actor.carry_out(decision, world.cluster.nodes)
        self._providers.resize(aftermath.sizes)
        self._held = {**self._held, **aftermath.doubts}
        return aftermath

    def close(self) -> None:
        """Let go of all plugins and threads."""
        self._actor.close()
        self._providers.close()
        self._strategies.close()


def _wanted_config_maps(policy: Policy) -> tuple[str, ...]:
    """Return the names of the ConfigMaps that the expanders of *policy* ask for."""
    names = (
        policy.faults.call(name, "config_map", getattr, expander, "config_map", default="", returns=instance_of(str))
        for name, expander in policy.expanders.items()
    )
    return tuple(dict.fromkeys(filter(None, names)))
