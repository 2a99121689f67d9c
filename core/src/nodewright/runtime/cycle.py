"""A cycle: one pass of the loop. Reload, observe, decide, act, grow others where growth failed, remember."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from time import perf_counter

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.api.reasons import Reason
from nodewright.decision.execution import Execution, to_be_kept
from nodewright.decision.memory import Memory
from nodewright.decision.recovery import adopt, recover
from nodewright.decision.world import World
from nodewright.explain.conditions import note_conditions
from nodewright.explain.look import Look
from nodewright.memory_store import MemoryKeeper
from nodewright.runtime.informer import Informer
from nodewright.runtime.reload import Reloader
from nodewright.runtime.reporting import Reporter
from nodewright.runtime.session import Session

#: What is said of pods that wait for nodes to become as they are expected, or fit to serve.
_ON_NODES = frozenset([Reason.FITS, Reason.WAITING])


class Cycle:
    """Runs cycles, and owns what one leaves to the next: the memory and the outcomes. For the loop's thread.

    *permit* is called before a decision is carried out; it raises `NotLeaderError` if this replica must not act.
    """

    def __init__(
        self,
        reloader: Reloader,
        informer: Informer,
        reporter: Reporter,
        keeper: MemoryKeeper,
        clock: Clock,
        permit: Callable[[], None],
    ) -> None:
        #: What is remembered by now.
        self.memory = Memory()
        #: Whether the last cycle did anything.
        self.productive = False
        self._reloader = reloader
        self._informer = informer
        self._reporter = reporter
        self._keeper = keeper
        self._clock = clock
        self._permit = permit
        #: How actions went that the next decision does not know of yet.
        self._outcomes: tuple[Outcome, ...] = ()
        #: When the first of what clouds put off in this cycle may be tried again; None if they put nothing off.
        self._due: datetime | None = None
        #: Groups that were seen before, by id.
        self._adopted: frozenset[str] = frozenset()

    @property
    def session(self) -> Session:
        """The session in effect."""
        return self._reloader.session

    def run(self) -> Decision:
        """Run one cycle and return what it decided first, before any fall-over.

        The next cycle is due again as soon as a cloud may be asked for what it has put off in this one.
        """
        self.productive, self._due = False, None
        self._reporter.began()
        self._take_in(self.session.late_outcomes())
        self._reloader.reload()
        started = perf_counter()
        world, now = self.observe()
        self._before_decision(world, now)
        before, self._outcomes = self.memory, ()
        observed = perf_counter()
        decision, self.memory, findings = self.session.decide(world, before, now)
        self._took(observe=observed - started, decide=perf_counter() - observed)
        self._reporter.decided(decision, before, self.memory, world, findings)
        self._informer.await_nodes(any(verdict.reason in _ON_NODES for verdict in decision.pods.values()))
        self._act(decision, world, before, now)
        self.memory = note_conditions(world, findings, self.memory, self.session.settings, now)
        self._keeper.keep(self._memory_to_keep())
        self.session.policy.hooks.deliver_faults()
        look = Look(world=world, decision=decision, memory=self.memory, findings=findings)
        self._reporter.finished(look, seconds=perf_counter() - started)
        return decision if self._due is None else replace(decision, again=min(self._due, decision.again or self._due))

    def observe(self) -> tuple[World, datetime]:
        """Return the world as it is now, and when that is; take up what earlier processes left in it."""
        if self.session.retry():
            self._reporter.metrics.plugins.show(self.session.collectors(), self.session.policy.faults)
        self._informer.read_pods_with(self.session.pod_annotations)
        world = self.session.observe(self._informer.look(), self._outcomes)
        now = self._clock.now()
        self._adopt(world, now)
        world, self.memory = recover(world, self.memory, now)
        return world, now

    def store_memory(self, timeout: float) -> bool:
        """Store what is remembered by now; return whether that was done within *timeout* seconds."""
        return self._keeper.keep_now(self._memory_to_keep(), timeout)

    def _adopt(self, world: World, now: datetime) -> None:
        """Take up groups that are seen for the first time as an earlier process left them; some come late."""
        fresh = tuple(facts for facts in world.groups if not facts.error and facts.id not in self._adopted)
        if not fresh:
            return
        seen = replace(world, groups=fresh)
        self.memory = adopt(seen, self.memory, self.session.settings.scale_down, now)
        self._adopted |= {facts.id for facts in fresh}

    def _before_decision(self, world: World, now: datetime) -> None:
        """Do what has to be done between observing and deciding: nothing, but in a dry run."""

    def _act(self, decision: Decision, world: World, before: Memory, now: datetime) -> None:
        """Carry out *decision*, made at *now* on *world* and the memory *before*.

        If groups did not grow, grow others instead, until none fails or nothing is left to grow.
        """
        execution = self._carry_out(decision, world, before)
        for _ in world.groups:
            if not execution.calls_for_another:
                return
            world, before = execution.world(world), self.memory
            # The decision below knows how growth went.
            self._outcomes = tuple(outcome for outcome in self._outcomes if outcome.action != "grow")
            began = perf_counter()
            decision, self.memory, _ = self.session.decide_growth(world, before, now)
            self._took(decide=perf_counter() - began)
            # The verdicts on nodes still hold.
            decision = replace(decision, nodes=execution.decision.nodes)
            execution = self._carry_out(decision, world, before)

    def _carry_out(self, decision: Decision, world: World, before: Memory) -> Execution:
        """Act on *decision*, report it, and remember how it went."""
        self._permit()
        self.session.policy.hooks.on_decision(decision)
        self._reporter.acting(decision, before, world)
        if decision.grow or decision.drain or decision.delete:
            # Stored before anything is ordered: if this process is killed now, the next one knows what may be done.
            self._keeper.keep_now(self._memory_to_keep(decision))
        began = perf_counter()
        execution = self.session.act(decision, world)
        self._reporter.took(act=perf_counter() - began)
        self.productive = self.productive or execution.fruitful
        self.memory = execution.memory(self.memory, before)
        self._take_in(execution.outcomes)
        return execution

    def _take_in(self, outcomes: tuple[Outcome, ...]) -> None:
        """Report how actions went, and keep it for the next decision."""
        self._outcomes += outcomes
        put_off = (outcome.not_before for outcome in outcomes)
        self._due = min((time for time in (self._due, *put_off) if time is not None), default=None)
        self._reporter.acted(outcomes)
        for outcome in outcomes:
            self.session.policy.hooks.on_outcome(outcome)

    def _memory_to_keep(self, decision: Decision | None = None) -> Memory:
        """Return the memory with a note on each call that has no answer yet, and on those that *decision* needs."""
        return to_be_kept(self.memory, self.session.held, decision, self._outcomes)

    def _took(self, **seconds: float) -> None:
        """Report how long parts of the cycle took, with the stages of the decision in them."""
        self._reporter.took(**seconds, **self.session.policy.timings.take())
