"""The reporter: whatever people and machines learn of decisions and of how they went passes here."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Settings
from nodewright.decision.findings import Findings
from nodewright.decision.memory import Conditions, Memory
from nodewright.decision.world import World
from nodewright.explain.explanation import Look
from nodewright.explain.status import Status, absence, initializing, status_of
from nodewright.kube.events import EventWriter
from nodewright.kube.lease import Lease
from nodewright.kube.status import StatusMap, StatusText
from nodewright.kube.transport import Transport
from nodewright.memory_store import WriteResult
from nodewright.record.decisions import DecisionRecord
from nodewright.runtime.announcer import Announcer
from nodewright.runtime.node_news import NodeNews
from nodewright.runtime.shadow_news import ShadowNews
from nodewright.serve.metrics import Metrics, Sight
from nodewright.shadow.judgement import Judgement
from nodewright.shadow.observation import Actions


class Reporter:
    """Tells what the loop does, in logs, events, status and metrics. For the loop's thread; it never stops a loop.

    *permit* raises `NotLeaderError` if the status is another replica's; safe to call from any thread.
    """

    def __init__(
        self, settings: Settings, transport: Transport, clock: Clock, permit: Callable[[], None] = lambda: None
    ) -> None:
        self.metrics = Metrics(clock)
        self._settings = settings
        self._way_of_status = transport.through(permit)
        self._clock = clock
        self._rights = transport.rights
        self._status: StatusMap | None = None
        #: When the status was last told, and how things stood then.
        self._told: tuple[datetime, Mapping[str, Conditions]] | None = None
        self._events = EventWriter(
            transport, clock, settings, status_uid=self._status_uid, on_drop=self.metrics.events_dropped.inc
        )
        self._announcer = Announcer(self._events)
        self._node_news = NodeNews(self._events)
        self._record = DecisionRecord(settings)
        self._shadow_news = ShadowNews(self.metrics) if settings.dry_run else None

    def began(self) -> None:
        """Note that a loop begins: from now on the status is ours. To be called by the leader only."""
        self.metrics.begin_loop()
        self._begin_status()

    def took(self, **seconds: float) -> None:
        """Note how many seconds parts of a loop took, by their names: see `Metrics.took`."""
        self.metrics.took(seconds)

    def leading(self, lease: Lease, change: str) -> None:
        """Tell that this replica *change*: ``became leader`` or ``stopped leading``."""
        self._events.on_lease(lease.name, lease.uid, "LeaderElection", f"{lease.identity} {change}")

    def decided(self, decision: Decision, before: Memory, memory: Memory, world: World, findings: Findings) -> None:
        """Tell what the decision of a loop says of nodes, groups and pods; memory is that of *before* and of after."""
        self._record.looped(decision.at)
        sight = Sight(world=world, decision=decision, memory=memory, settings=self._settings, findings=findings)
        self.metrics.note_loop(sight, before)
        self._announcer.explain(decision, before, memory, world, self._settings)
        if self._settings.events.nodes:
            self._node_news.tell(decision, before, memory, world)

    def acting(self, decision: Decision, before: Memory, world: World) -> None:
        """Tell of a decision that is about to be carried out: the loop's own, or one on what else to grow."""
        self._announcer.announce(decision, before, world, self._settings)
        self._record.acting(decision)
        self.metrics.note_orders(decision, world)

    def compared(self, decision: Decision, actions: Actions, findings: Sequence[Judgement]) -> None:
        """Tell of a decision that is not carried out, and how it compares with what somebody else has done."""
        if self._shadow_news is not None:
            self._shadow_news.tell(decision, findings)
        self._record.compared(decision, actions, findings)

    def acted(self, outcomes: tuple[Outcome, ...]) -> None:
        """Tell how actions went."""
        self._announcer.report(outcomes)
        self._record.acted(outcomes)
        self.metrics.note_outcomes(outcomes)

    def finished(self, look: Look, *, seconds: float) -> None:
        """Tell that a loop has ended well, *seconds* after it began; the memory of *look* is that of its end."""
        for error in self._rights.news():
            self._events.on_status("RightMissing", str(error), warning=True)
        self.metrics.end_loop(seconds)
        if self._status is not None and self._is_news(look):
            self._told = look.decision.at, look.memory.status.conditions
            self._tell_status(status_of(look, self._settings))
        if missing := absence(look, self._settings):
            self._events.on_status("ClusterUnhealthy", missing, warning=True)

    def failed(self, error: Exception) -> None:
        """Tell that a loop has ended with an *error*."""
        self.metrics.note_failure(error)

    def kept(self, written: WriteResult) -> None:
        """Tell how an attempt to write memory went; on a thread of its own."""
        self.metrics.memory.note(ok=written.ok, size=written.size, shed=len(written.shed))

    def reconfigured(self, settings: Settings) -> None:
        """Go on by other *settings*."""
        old, self._settings = self._settings, settings
        if self._status is not None and (old.status, old.namespace) != (settings.status, settings.namespace):
            self._status.delete()
            self._status = None
            self._begin_status()
        self._record.reconfigure(settings)
        self._events.reconfigure(settings)
        self._events.on_status("ConfigurationChanged", "The changed configuration is in effect")

    def refused_configuration(self, error: Exception) -> None:
        """Tell that a changed configuration can't be used."""
        self._events.on_status("ConfigurationRefused", str(error), warning=True)

    def deliver(self, timeout: float) -> bool:
        """Wait until all that was told so far is written, or given up; tell whether that was in time."""
        told = self._status is None or self._status.flush(timeout)
        return self._events.flush(timeout) and told

    def withdraw(self) -> None:
        """Delete the status: it is about to be another replica's, or nobody's."""
        if self._status is not None:
            self._status.close()
            self._status = None

    def close(self) -> None:
        """Write what is left and end all threads."""
        self.withdraw()
        self._record.close()
        self._events.close()

    def _begin_status(self) -> None:
        if self._status is None and self._settings.status.write and not self._settings.dry_run:
            self._status = StatusMap(self._way_of_status, self._settings.namespace, self._settings.status.name)
            self._told = None
            self._tell_status(initializing(self._clock.now()))

    def _is_news(self, look: Look) -> bool:
        """Tell whether the status has to be told: something happened, or it is not quite fresh any more.

        Where one loop follows the other at once, it is not written each time.
        """
        if self._told is None:
            return True
        at, conditions = self._told
        is_fresh = timedelta(0) <= look.decision.at - at < self._settings.loop.scan_interval / 2
        return not is_fresh or look.memory.status.conditions != conditions

    def _tell_status(self, status: Status) -> None:
        if self._status is not None:
            self._status.write(partial(_written, status))

    def _status_uid(self) -> str:
        status = self._status
        return status.uid() if status is not None else ""


def _written(status: Status) -> StatusText:
    return StatusText(annotations=status.annotations, data=status.text())
