"""The autoscaler: the loop round observe, decide and act."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from threading import Event
from time import perf_counter

from nodewright.aftermath import Aftermath
from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.api.errors import ApiServerError, ConfigurationError, NodewrightError
from nodewright.api.plugin import Plugin
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile
from nodewright.health import adopt_orders
from nodewright.kube.config_maps import ConfigMapWatch
from nodewright.kube.feed import Feed
from nodewright.kube.kinds import KINDS, wanted_kinds
from nodewright.kube.reflector import Reflector
from nodewright.kube.taint_latency import TaintLatency
from nodewright.kube.transport import Transport
from nodewright.memory import Memory
from nodewright.particulars import Particulars
from nodewright.plugins import Fault, Faults, Registry
from nodewright.plugins.prices import GuardedPricing
from nodewright.record.explanation import Look
from nodewright.record.picture import Picture
from nodewright.record.shadow.comparison import Comparison
from nodewright.runtime.reporter import Reporter
from nodewright.runtime.session import Session
from nodewright.scaledown.removal.soft_taints import recall_candidates
from nodewright.serve.metrics import Metrics
from nodewright.world import World

#: After a wake-up the loop waits this long for what belongs together: pods of one burst, nodes of one order.
_GATHER_SECONDS = 0.5
#: A changed configuration waits so long for the ConfigMaps that it wants; strategies can do without for a loop.
_CONFIG_MAP_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Autoscaler:
    """Keeps a cluster at the size that its pods need.

    `start`, then `run` until told to stop (or `run_once` as often as wanted), then `close`; all on one thread.
    """

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        clock: Clock,
        *,
        registry: Registry | None = None,
        config_file: ConfigFile | None = None,
        observers: Mapping[str, Plugin] | None = None,
    ) -> None:
        self.cluster = Cluster()
        self.memory = Memory()
        #: Groups whose open orders were adopted, or given by us.
        self._adopted: frozenset[str] = frozenset()
        self._clock = clock
        # Before anybody has it who could write.
        transport = transport.read_only() if settings.dry_run else transport
        #: Of a dry run: nothing is done then but to compare.
        self._comparison = Comparison(settings, clock.now()) if settings.dry_run else None
        self._reporter = Reporter(settings, transport, clock)
        self._transport = transport
        self._registry = registry or Registry()
        self._config_file = config_file
        self._observers = dict(observers or {})
        self._faults = Faults(clock)
        self._faults.listen(self._count_fault)
        self._wake = Event()
        self._taint_latency = TaintLatency(clock)
        self.feed = Feed(on_unschedulable=self._wake.set, on_nodes=self._taint_latency.saw)
        wanted = wanted_kinds(settings)
        for kind in wanted:
            self.feed.follow(kind)
        self._reflectors = [Reflector(kind, transport, self.feed) for kind in (*KINDS, *wanted)]
        self._config_maps = ConfigMapWatch(transport, self.feed)
        self._outcomes: tuple[Outcome, ...] = ()
        #: Whether anything was done in the last loop.
        self._productive = False
        self._session = self._open(settings)

    @property
    def metrics(self) -> Metrics:
        """What Prometheus is told."""
        return self._reporter.metrics

    @property
    def host(self) -> str:
        """Address of the API server."""
        return self._transport.host

    @property
    def busy(self) -> bool:
        """Whether an action of an earlier loop is still under way: it took longer than `loop.actionTimeout`."""
        return self._session.busy

    def start(self, timeout: float = 60.0) -> None:
        """Begin to watch the cluster; returns when all of it was seen once, or raises `ApiServerError`."""
        for reflector in self._reflectors:
            reflector.start()
        self._watch_config_maps()
        self.feed.wait_until_synced(timeout)

    def run(self, stop: Event) -> None:
        """Run loops until *stop* is set; `wake` after that, or the end comes with the next loop.

        What goes wrong in one loop is logged; the next one tries again.
        """
        while True:
            # In this order: whoever sets *stop* and wakes the loop is never missed.
            self._wake.clear()
            if stop.is_set():
                return
            decision = None
            try:
                decision = self.run_once()
            except NodewrightError as error:
                _log.warning("this loop could not be finished, the next one tries again: %s", error)
            except Exception:
                _log.exception("this loop failed, the next one tries again")
            self._pause(stop, decision)

    def wake(self) -> None:
        """Begin the next loop at once. Safe to call from any thread."""
        self._wake.set()

    def look(self) -> Look:
        """Decide as in a loop, but do nothing, tell nobody and remember nothing."""
        world, now = self._observe()
        particulars = Particulars()
        decision, memory = self._session.decide(world, self.memory, now, particulars)
        return Look(world=world, decision=decision, memory=memory, particulars=particulars)

    def picture(self) -> Picture:
        """Return all that the next decision would go by. To be shown on this thread, before anything else is done."""
        world, now = self._observe()
        pricing = {name: GuardedPricing(name, model, self._faults) for name, model in world.pricing.items()}
        return Picture(
            world=world,
            memory=self.memory,
            settings=self._session.settings,
            now=now,
            classes=self._registry,
            pricing=pricing,
        )

    def run_once(self) -> Decision:
        """Run one loop and return what was decided in it."""
        self._productive = False
        self._hear(self._session.ended())
        self._reload()
        started = perf_counter()
        world, now = self._observe()
        if self._comparison is not None:
            settings, decide = self._session.settings, self._session.decide
            self.memory = self._comparison.begin(world, self.memory, settings, now, decide)
        before, self._outcomes = self.memory, ()
        decided = perf_counter()
        decision, self.memory = self._session.decide(world, before, now)
        self._reporter.took(deciding=perf_counter() - decided)
        self._reporter.decided(decision, before, self.memory, world)
        if self._comparison is None:
            aftermath = self._carry_out(decision, world, before)
            self._fall_over(aftermath, world, now)
        else:
            self._compare(self._comparison, decision, world, before)
        self._session.policy.hooks.deliver_faults()
        self._reporter.finished(seconds=perf_counter() - started)
        return decision

    def deliver_events(self, timeout: float = 10.0) -> bool:
        """Wait until the events of all loops so far are written, or given up; tell whether that was in time."""
        return self._reporter.deliver(timeout)

    def close(self) -> None:
        """Write the events that are left, end all threads and let go of all plugins."""
        for reflector in self._reflectors:
            reflector.stop()
        self._config_maps.close()
        self._session.close()
        self._reporter.close()

    def _compare(self, comparison: Comparison, decision: Decision, world: World, before: Memory) -> None:
        """Do nothing of *decision*, and tell how it compares with what somebody else does."""
        self.memory = self._session.act(decision, world).memory(self.memory, before)
        findings = comparison.end(decision, world, self.memory, self._session.settings)
        self._reporter.compared(decision, comparison.deeds, findings)

    def _carry_out(self, decision: Decision, world: World, before: Memory) -> Aftermath:
        """Act on *decision*, made on *world* and the memory *before*, tell of it and remember how it went."""
        hooks = self._session.policy.hooks
        hooks.on_decision(decision)
        self._reporter.acting(decision, world)
        aftermath = self._session.act(decision, world)
        self._productive = self._productive or aftermath.fruitful
        self.memory = aftermath.memory(self.memory, before)
        self._hear(aftermath.outcomes)
        return aftermath

    def _fall_over(self, aftermath: Aftermath, world: World, now: datetime) -> None:
        """Grow other groups instead of those that did not, until none fails or nothing is left to grow."""
        for _ in world.groups:
            if not aftermath.calls_for_another:
                return
            world, before = aftermath.world(world), self.memory
            # How growth went is known to the next decision on growth: the one below.
            self._outcomes = tuple(outcome for outcome in self._outcomes if outcome.action != "grow")
            decided = perf_counter()
            decision, self.memory = self._session.decide_growth(world, before, now)
            self._reporter.took(deciding=perf_counter() - decided)
            # The verdicts on nodes hold on.
            decision = replace(decision, nodes=aftermath.decision.nodes)
            aftermath = self._carry_out(decision, world, before)

    def _hear(self, outcomes: tuple[Outcome, ...]) -> None:
        """Take up how actions went: tell of it, and keep it for the next decision."""
        self._outcomes += outcomes
        self._reporter.acted(outcomes)
        for outcome in outcomes:
            self._session.policy.hooks.on_outcome(outcome)

    def _observe(self) -> tuple[World, datetime]:
        self.feed.apply_to(self.cluster)
        self.cluster.tidy()
        world = self._session.observe(self.cluster, self._outcomes)
        now = self._clock.now()
        self._adopt(world, now)
        return world, now

    def _adopt(self, world: World, now: datetime) -> None:
        """Go on with groups that are seen for the first time where an earlier life has left them; some come late."""
        fresh = tuple(facts for facts in world.groups if not facts.error and facts.id not in self._adopted)
        if fresh:
            seen = replace(world, groups=fresh)
            self.memory = adopt_orders(seen, self.memory, now)
            self.memory = recall_candidates(seen, self.memory, self._session.settings.scale_down, now)
            self._adopted |= {facts.id for facts in fresh}

    def _open(self, settings: Settings) -> Session:
        session = Session(settings, self._registry, self._transport, self._clock, self._faults, self._taint_latency)
        for name, observer in self._observers.items():
            session.policy.hooks.register(name, observer)
        return session

    def _reload(self) -> None:
        """Take up a changed configuration file; one that can't be used is refused, and the old one goes on."""
        # What is under way has to be known when its order is looked for in the cloud.
        if self._config_file is None or self._session.busy:
            return
        try:
            loaded = self._config_file.changed()
        except ConfigurationError as error:
            _log.error("the changed configuration is refused, the old one goes on:\n%s", error)
            self._reporter.refused_configuration(error)
            self._session.policy.hooks.on_config_refused(error.problems)
            return
        if loaded is None:
            return
        for warning in loaded.warnings:
            _log.warning("%s", warning)
        settings = loaded.settings
        if settings.dry_run != self._session.settings.dry_run:
            _log.warning("dryRun: %s takes effect at the next start", str(settings.dry_run).lower())
            settings = settings.model_copy(update={"dry_run": self._session.settings.dry_run})
        old, self._session = self._session, self._open(settings)
        old.close()
        self._watch_config_maps()
        with suppress(ApiServerError):
            self.feed.wait_until_synced(_CONFIG_MAP_SECONDS)
        _log.info("the changed configuration is in effect")
        self._reporter.reconfigured(settings)
        self._session.policy.hooks.on_config_changed()

    def _watch_config_maps(self) -> None:
        self._config_maps.watch(self._session.settings.namespace, self._session.config_maps)

    def _pause(self, stop: Event, decision: Decision | None) -> None:
        """Wait for the next loop after *decision*; None if there was none."""
        loop = self._session.settings.loop
        interval = loop.scan_interval.total_seconds()
        gather = min(_GATHER_SECONDS, interval)
        if decision is not None and decision.again is not None:
            interval = min(interval, max(gather, (decision.again - self._clock.now()).total_seconds()))
        if not loop.frequent:
            self._clock.wait(stop, interval)
            return
        # What was refused is not asked for again and again without a pause.
        if self._productive or self._clock.wait(self._wake, interval):
            self._clock.wait(stop, gather)

    def _count_fault(self, fault: Fault) -> None:
        self.metrics.plugin_faults.labels(plugin=fault.plugin, where=fault.where).inc()
