"""The reporter: everything that people and machines learn of decisions and their outcomes passes through it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Conditions, Memory
from nodewright.decision.world import World
from nodewright.explain.look import Look
from nodewright.explain.status import Status, absence, initializing, status_of
from nodewright.kube.events import EventWriter
from nodewright.kube.lease import Lease
from nodewright.kube.status import StatusText, StatusWriter
from nodewright.kube.transport import Transport
from nodewright.memory_store import WriteResult
from nodewright.plugins import Fault
from nodewright.record.decisions import DecisionRecord
from nodewright.runtime.leadership import Leadership
from nodewright.runtime.reporting.decision_events import DecisionEvents
from nodewright.runtime.reporting.node_events import NodeEvents
from nodewright.serve.metrics import LoopResult, Metrics
from nodewright.serve.snapshots import Snapshots
from nodewright.shadow.judgement import Judgement
from nodewright.shadow.observation import Actions


class Reporter:
    """Reports what the loop does in logs, events, status, metrics, records and snapshots.

    For the loop's thread, unless a method says otherwise. No method stops a loop. Each scrape asks *troubles* why kinds
    of objects can't be kept up with: it must be safe to call from any thread, and return at once.
    """

    def __init__(
        self,
        settings: Settings,
        transport: Transport,
        clock: Clock,
        leadership: Leadership,
        troubles: Callable[[], Mapping[str, str]],
    ) -> None:
        self.metrics = Metrics(clock)
        self.metrics.process.troubles = troubles
        # A dry run takes no part in leader election.
        self.metrics.process.leading = None if settings.dry_run else lambda: leadership.held
        #: What a loop saw, for clients who ask for it.
        self.snapshots = Snapshots()
        self._settings = settings
        # The status may be another replica's: each write needs permission.
        self._status_transport = transport.through(leadership.permit)
        self._clock = clock
        self._rights = transport.rights
        self._status: StatusWriter | None = None
        #: When the status was last written, and the conditions then.
        self._written: tuple[datetime, Mapping[str, Conditions]] | None = None
        self._events = EventWriter(
            transport, clock, settings, status_uid=self._status_uid, on_drop=self.metrics.events_dropped.inc
        )
        self._decision_events = DecisionEvents(self._events, transport.rights.told)
        self._node_events = NodeEvents(self._events)
        self._record = DecisionRecord(settings)

    def began(self) -> None:
        """Note that a loop begins; from now on the status is this replica's. For the leader only."""
        self.metrics.begin_loop()
        self._begin_status()

    def took(self, **seconds: float) -> None:
        """Note how many seconds parts of a loop took, by name; see `Metrics.took`."""
        self.metrics.took(seconds)

    def leading(self, lease: Lease, change: str) -> None:
        """Report that this replica *change*: ``became leader`` or ``stopped leading``."""
        self._events.on_lease(lease.name, lease.uid, "LeaderElection", f"{lease.identity} {change}")

    def decided(self, decision: Decision, before: Memory, memory: Memory, world: World, findings: Findings) -> None:
        """Report what a loop's *decision* found out about nodes, groups and pods.

        It was made on *world* and the memory *before*, and left *memory*.
        """
        self._record.looped(decision.at)
        loop = LoopResult(world=world, decision=decision, memory=memory, settings=self._settings, findings=findings)
        self.metrics.note_loop(loop, before)
        self._decision_events.decided(decision, before, memory, world, self._settings)
        if self._settings.events.nodes:
            self._node_events.write(decision, before, memory, world)

    def acting(self, decision: Decision, before: Memory, world: World) -> None:
        """Report a *decision* that is about to be carried out: the loop's own, or one of a fall-over."""
        self._decision_events.acting(decision, before, world, self._settings)
        self._record.acting(decision)
        self.metrics.note_orders(decision, world)

    def compared(self, decision: Decision, actions: Actions, findings: Sequence[Judgement]) -> None:
        """Record a *decision* of a dry run, and how it compares with what another autoscaler did."""
        self._record.compared(decision, actions, findings)

    def acted(self, outcomes: tuple[Outcome, ...]) -> None:
        """Report how actions went."""
        self._decision_events.acted(outcomes)
        self._record.acted(outcomes)
        self.metrics.note_outcomes(outcomes)

    def finished(self, look: Look, *, seconds: float) -> None:
        """Report that a loop has ended well, *seconds* after it began. *look* has the memory at its end."""
        for error in self._rights.news():
            self._events.on_status("RightMissing", str(error), warning=True)
        self.metrics.end_loop(seconds)
        if self._status is not None and self._is_due(look):
            self._written = look.decision.at, look.memory.status.conditions
            self._write_status(status_of(look, self._settings))
        if missing := absence(look, self._settings):
            self._events.on_status("ClusterUnhealthy", missing, warning=True)
        if self.snapshots.wanted:
            self.snapshots.take(look.world, look.decision, self._clock.now())

    def failed(self, error: Exception) -> None:
        """Report that a loop has ended with an *error*."""
        self.metrics.note_failure(error)

    def faulted(self, fault: Fault) -> None:
        """Count a plugin's *fault*. Safe to call from any thread."""
        # The place without a name that may follow it, such as that of a group: there may be many.
        where, _, _ = fault.where.partition(" ")
        self.metrics.plugin_faults.labels(plugin=fault.plugin, where=where).inc()

    def kept(self, written: WriteResult) -> None:
        """Report how an attempt to write memory went. For the keeper's thread."""
        self.metrics.memory.note(ok=written.ok, size=written.size, shed=len(written.shed))

    def reconfigured(self, settings: Settings) -> None:
        """Report that other *settings* are in effect, and go on by them."""
        old, self._settings = self._settings, settings
        if self._status is not None and (old.status, old.namespace) != (settings.status, settings.namespace):
            self._status.delete()
            self._status = None
            self._begin_status()
        self._record.reconfigure(settings)
        self._events.reconfigure(settings)
        self._events.on_status("ConfigurationChanged", "The changed configuration is in effect")

    def refused_configuration(self, error: Exception) -> None:
        """Report that a changed configuration can't be used."""
        self._events.on_status("ConfigurationRefused", str(error), warning=True)

    def deliver(self, timeout: float) -> bool:
        """Wait until all events and the status so far are written or given up; return whether that was in time."""
        status_written = self._status is None or self._status.flush(timeout)
        return self._events.flush(timeout) and status_written

    def withdraw(self) -> None:
        """Delete the status: from now on it is another replica's, or no one's."""
        if self._status is not None:
            self._status.close()
            self._status = None

    def close(self) -> None:
        """Write the events that are left, delete the status, and end all threads."""
        self.withdraw()
        self._record.close()
        self._events.close()

    def _begin_status(self) -> None:
        if self._status is None and self._settings.status.write and not self._settings.dry_run:
            self._status = StatusWriter(self._status_transport, self._settings.namespace, self._settings.status.name)
            self._written = None
            self._write_status(initializing(self._clock.now()))

    def _is_due(self, look: Look) -> bool:
        """Return whether the status has to be written: a condition changed, or the last one is not fresh any more.

        If one loop follows the other at once, the status is not written each time.
        """
        if self._written is None:
            return True
        at, conditions = self._written
        is_fresh = timedelta(0) <= look.decision.at - at < self._settings.loop.scan_interval / 2
        return not is_fresh or look.memory.status.conditions != conditions

    def _write_status(self, status: Status) -> None:
        if self._status is not None:
            self._status.write(partial(_text, status))

    def _status_uid(self) -> str:
        status = self._status
        return status.uid() if status is not None else ""


def _text(status: Status) -> StatusText:
    return StatusText(annotations=status.annotations, data=status.text())
