"""The autoscaler: the loop round observe, decide and act."""

import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from threading import Event
from time import perf_counter

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.api.errors import ApiServerError, ConfigurationError, NodewrightError, NotLeaderError
from nodewright.api.plugin import Plugin
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile, keep_lasting
from nodewright.decision.aftermath import Aftermath, to_be_kept
from nodewright.decision.findings import Particulars
from nodewright.decision.health import adopt_orders, forget_namesakes, settle
from nodewright.decision.memory import Memory
from nodewright.decision.scaledown.removal.soft_taints import recall_candidates
from nodewright.decision.world import World
from nodewright.explain.conditions import note_conditions
from nodewright.explain.explanation import Look
from nodewright.kube.feed import Feed
from nodewright.kube.lease import Lease
from nodewright.kube.transport import Transport
from nodewright.memory_store import keeper_for
from nodewright.plugins import Fault, Faults, Registry
from nodewright.plugins.prices import GuardedPricing
from nodewright.runtime.leadership import Leadership
from nodewright.runtime.lookout import Lookout
from nodewright.runtime.reporter import Reporter
from nodewright.runtime.session import Session
from nodewright.runtime.vitals import Vitals
from nodewright.scenario.picture import Picture
from nodewright.serve.metrics import Metrics
from nodewright.serve.snapshots import Snapshots
from nodewright.shadow.comparison import Comparison

#: After a wake-up the loop waits this long for what belongs together: pods of one burst, nodes of one order.
_GATHER_SECONDS = 0.5
#: A changed configuration waits so long for what it looks at and the old one did not; a loop can do without.
_FIRST_SIGHT_SECONDS = 5.0

_log = logging.getLogger(__name__)


class Autoscaler:
    """Keeps a cluster at the size that its pods need.

    `start`, `lead`, then `run` until told to stop (or `run_once` as often as wanted), then `close`; all on one thread.
    With a *lease*, nothing is changed while it is not held, and `lead` has to come before `run`.
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
        lease: Lease | None = None,
    ) -> None:
        self.memory = Memory()
        #: Groups whose open orders were adopted, or given by us.
        self._adopted: frozenset[str] = frozenset()
        #: What has to be held to act; None if nothing has.
        self.lease = lease
        #: Whether the loop lives.
        self.vitals = Vitals(settings.loop)
        self._clock = clock
        # Before anybody has it who could write.
        transport = transport.read_only() if settings.dry_run else transport
        #: Of a dry run: nothing is done then but to compare.
        self._comparison = Comparison(settings, clock.now()) if settings.dry_run else None
        self._leadership = Leadership(lease)
        self._reporter = Reporter(settings, transport, clock, self._leadership.permit)
        self._keeper = keeper_for(settings, transport, clock, tell=self._reporter.kept)
        self._transport = transport
        self._registry = registry or Registry()
        self._config_file = config_file
        self._observers = dict(observers or {})
        self._faults = Faults(clock)
        self._faults.listen(self._count_fault)
        self._wake = Event()
        self._lookout = Lookout(transport, clock, self._wake.set)
        self.metrics.process.troubles = self.feed.troubles
        if settings.dry_run:
            self.metrics.process.leading = None
        elif lease is not None:
            self.metrics.process.leading = lambda: lease.held
        #: What a loop saw, for whoever asks for it.
        self.snapshots = Snapshots()
        self._outcomes: tuple[Outcome, ...] = ()
        #: Whether anything was done in the last loop.
        self._productive = False
        self._session = self._open(settings)

    @property
    def metrics(self) -> Metrics:
        """What Prometheus is told."""
        return self._reporter.metrics

    @property
    def cluster(self) -> Cluster:
        """What is known of the cluster. For the loop's thread."""
        return self._lookout.cluster

    @property
    def feed(self) -> Feed:
        """What was seen of the cluster and not taken up yet."""
        return self._lookout.feed

    @property
    def host(self) -> str:
        """Address of the API server."""
        return self._transport.host

    @property
    def busy(self) -> bool:
        """Whether an action of an earlier loop is still under way: it took longer than `loop.actionTimeout`."""
        return self._session.busy

    def start(self, timeout: float = 60.0, *, patient: bool = False) -> None:
        """Begin to watch the cluster; returns when all of it was seen once.

        Raises `ApiServerError` after *timeout* seconds; if *patient*, logs why it takes so long and goes on waiting.
        """
        self._watch()
        self._leadership.look()
        self._lookout.wait(timeout, patient=patient)

    def lead(self, stop: Event) -> bool:
        """Wait until this replica may act, or *stop* is set; tell whether it may. It keeps up with the cluster.

        It goes on with what the last leader remembered. Raises `ApiServerError` if that can't be read for a while.
        """
        if not self._leadership.win(stop, self._lookout.catch_up):
            return False
        if self.lease is not None:
            self._reporter.leading(self.lease, "became leader")
        self.vitals.began()
        self.recall()
        return True

    def recall(self) -> None:
        """Go on with what the last process remembered; from now on its memory is ours. Before the first loop.

        Raises `ApiServerError` if the API server does not answer for a while.
        """
        self.memory = self._keeper.load()

    def glance_at_memory(self) -> None:
        """Go on with what the running autoscaler remembers, and leave its memory alone: to `look`, and no more."""
        self.memory = self._keeper.peek()

    def run(self, stop: Event) -> None:
        """Run loops until *stop* is set; `wake` after that, or the end comes with the next loop.

        What goes wrong in one loop is logged; the next one tries again. Raises `NotLeaderError` if the lease is lost.
        """
        trouble = ""
        while True:
            # In this order: whoever sets *stop* and wakes the loop is never missed.
            self._wake.clear()
            self._leadership.permit()
            if stop.is_set():
                return
            decision = None
            self.vitals.began()
            try:
                decision = self.run_once()
                trouble = ""
                # A restart may help where no cloud can be read at all.
                if self._session.sighted:
                    self.vitals.ended_well()
            except NotLeaderError:
                raise
            except NodewrightError as error:
                # Once, but for how long it has lasted.
                known, trouble = trouble, re.sub(r"\d+", "", str(error))
                level = logging.DEBUG if trouble == known else logging.WARNING
                _log.log(level, "this loop could not be finished, the next ones try again: %s", error)
                self._reporter.failed(error)
            except Exception as error:
                _log.exception("this loop failed, the next one tries again")
                self._reporter.failed(error)
            began = perf_counter()
            self._pause(stop, decision)
            self._reporter.took(loopWait=perf_counter() - began)

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
        self._reporter.began()
        self._hear(self._session.ended())
        self._reload()
        started = perf_counter()
        world, now = self._observe()
        if self._comparison is not None:
            settings, decide = self._session.settings, self._session.decide
            self.memory = self._comparison.begin(world, self.memory, settings, now, decide)
        before, self._outcomes = self.memory, ()
        observed, particulars = perf_counter(), Particulars(in_depth=False)
        decision, self.memory = self._session.decide(world, before, now, particulars)
        self._reporter.took(
            observe=observed - started, decide=perf_counter() - observed, **self._session.policy.stages.take()
        )
        self._reporter.decided(decision, before, self.memory, world, particulars)
        if self._comparison is None:
            aftermath = self._carry_out(decision, world, before)
            self._fall_over(aftermath, world, now)
        else:
            self._compare(self._comparison, decision, world, before)
        self.memory = note_conditions(world, particulars, self.memory, self._session.settings, now)
        self._keeper.keep(to_be_kept(self.memory, self._session.held))
        self._session.policy.hooks.deliver_faults()
        look = Look(world=world, decision=decision, memory=self.memory, particulars=particulars)
        self._reporter.finished(look, seconds=perf_counter() - started)
        if self.snapshots.wanted:
            self.snapshots.take(world, decision, self._clock.now())
        return decision

    def deliver_memory(self, timeout: float = 10.0) -> bool:
        """Wait until what is remembered by now is stored; tell whether that was in time."""
        return self._keeper.keep_now(to_be_kept(self.memory, self._session.held), timeout)

    def deliver_events(self, timeout: float = 10.0) -> bool:
        """Wait until the events of all loops so far are written, or given up; tell whether that was in time."""
        return self._reporter.deliver(timeout)

    def close(self) -> None:
        """Write the memory and the events that are left, end all threads and let go of all plugins and of the lease."""
        self._session.close()
        self._keeper.close()
        # Before another replica has the lease, and a status of its own.
        self._reporter.withdraw()
        if self.lease is not None and self._leadership.resign(busy=self._session.busy):
            self._reporter.leading(self.lease, "stopped leading")
        self._reporter.close()
        self._lookout.close()

    def _compare(self, comparison: Comparison, decision: Decision, world: World, before: Memory) -> None:
        """Do nothing of *decision*, and tell how it compares with what somebody else does."""
        self.memory = self._session.act(decision, world).memory(self.memory, before)
        findings = comparison.end(decision, world, self.memory, self._session.settings)
        self._reporter.compared(decision, comparison.deeds, findings)

    def _carry_out(self, decision: Decision, world: World, before: Memory) -> Aftermath:
        """Act on *decision*, made on *world* and the memory *before*, tell of it and remember how it went."""
        self._leadership.permit()
        hooks = self._session.policy.hooks
        hooks.on_decision(decision)
        self._reporter.acting(decision, before, world)
        if decision.grow or decision.drain or decision.delete:
            # Killed in the middle of it, the next life has to know what may have been done.
            self._keeper.keep_now(to_be_kept(self.memory, self._session.held, decision))
        began = perf_counter()
        aftermath = self._session.act(decision, world)
        self._reporter.took(act=perf_counter() - began)
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
            self._reporter.took(decide=perf_counter() - decided, **self._session.policy.stages.take())
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
        world = self._session.observe(self._lookout.look(), self._outcomes)
        now = self._clock.now()
        self._adopt(world, now)
        world, self.memory = settle(world, self.memory, now)
        return world, now

    def _adopt(self, world: World, now: datetime) -> None:
        """Go on with groups that are seen for the first time where an earlier life has left them; some come late."""
        fresh = tuple(facts for facts in world.groups if not facts.error and facts.id not in self._adopted)
        if fresh:
            seen = replace(world, groups=fresh)
            self.memory = forget_namesakes(seen, adopt_orders(seen, self.memory, now))
            self.memory = recall_candidates(seen, self.memory, self._session.settings.scale_down, now)
            self._adopted |= {facts.id for facts in fresh}

    def _open(self, settings: Settings) -> Session:
        permit, latency = self._leadership.permit, self._lookout.taint_latency
        session = Session(settings, self._registry, self._transport, self._clock, self._faults, latency, permit)
        for name, observer in self._observers.items():
            session.policy.hooks.register(name, observer)
        self.metrics.plugins.show(session.collectors(), self._faults)
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
        settings, lasting = keep_lasting(loaded.settings, self._session.settings)
        for name in lasting:
            _log.warning("the change of %s takes effect at the next start of the process", name)
        old, self._session = self._session, self._open(settings)
        old.close()
        self._watch()
        with suppress(ApiServerError):
            self._lookout.wait(_FIRST_SIGHT_SECONDS)
        self.vitals.loop = settings.loop
        _log.info("the changed configuration is in effect")
        self._reporter.reconfigured(settings)
        self._session.policy.hooks.on_config_changed()

    def _watch(self) -> None:
        self._lookout.watch(self._session.settings, self._session.config_maps)

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
        # Of a place with a name, such as a group, without the name: there may be many.
        where, _, _ = fault.where.partition(" ")
        self.metrics.plugin_faults.labels(plugin=fault.plugin, where=where).inc()
