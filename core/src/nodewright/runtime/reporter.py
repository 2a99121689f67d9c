"""The reporter: whatever people and machines learn of decisions and of how they went passes here."""

from collections.abc import Sequence

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Settings
from nodewright.kube.events import EventWriter
from nodewright.kube.transport import Transport
from nodewright.memory import Memory
from nodewright.record.decision_record import DecisionRecord
from nodewright.record.shadow.finding import Finding
from nodewright.record.shadow.sighting import Deeds
from nodewright.runtime.announcer import Announcer
from nodewright.runtime.node_news import NodeNews
from nodewright.runtime.shadow_news import ShadowNews
from nodewright.serve.metrics import Metrics
from nodewright.world import World


class Reporter:
    """Tells in logs, events and metrics what the loop does. For the loop's thread; nothing here stops a loop."""

    def __init__(self, settings: Settings, transport: Transport, clock: Clock) -> None:
        self.metrics = Metrics()
        self._settings = settings
        self._events = EventWriter(
            transport,
            clock,
            settings.namespace,
            on_drop=self.metrics.events_dropped.inc,
            silent=settings.dry_run,
        )
        self._announcer = Announcer(self._events)
        self._node_news = NodeNews(self._events)
        self._record = DecisionRecord(settings)
        self._shadow_news = ShadowNews(self.metrics) if settings.dry_run else None

    def took(self, *, deciding: float) -> None:
        """Note how many seconds a decision took."""
        self.metrics.decision_seconds.observe(deciding)

    def decided(self, decision: Decision, before: Memory, memory: Memory, world: World) -> None:
        """Tell what the decision of a loop says of nodes, groups and pods; memory is that of *before* and of after."""
        self._record.looped(decision.at)
        self.metrics.note_templates(memory.templates)
        self.metrics.scale_down.note_decision(decision, memory, world, self._settings)
        if self._settings.events.nodes:
            self._node_news.tell(decision, before, memory, world)

    def acting(self, decision: Decision, world: World) -> None:
        """Tell of a decision that is about to be carried out: the loop's own, or one on what else to grow."""
        self._announcer.announce(decision, world)
        self._record.acting(decision)

    def compared(self, decision: Decision, deeds: Deeds, findings: Sequence[Finding]) -> None:
        """Tell of a decision that is not carried out, and how it compares with what somebody else has done."""
        if self._shadow_news is not None:
            self._shadow_news.tell(decision, findings)
        self._record.compared(decision, deeds, findings)

    def acted(self, outcomes: tuple[Outcome, ...]) -> None:
        """Tell how actions went."""
        self._announcer.report(outcomes)
        self._record.acted(outcomes)
        self.metrics.scale_down.note_outcomes(outcomes)

    def finished(self, *, seconds: float) -> None:
        """Tell that a loop has ended well, *seconds* after it began."""
        self.metrics.loop_seconds.observe(seconds)

    def reconfigured(self, settings: Settings) -> None:
        """Go on by other *settings*."""
        self._settings = settings
        self._record.reconfigure(settings)
        self._events.namespace = settings.namespace
        self._events.on_status("ConfigurationChanged", "The changed configuration is in effect")

    def refused_configuration(self, error: Exception) -> None:
        """Tell that a changed configuration can't be used."""
        self._events.on_status("ConfigurationRefused", str(error), warning=True)

    def deliver(self, timeout: float) -> bool:
        """Wait until all that was told so far is written, or given up; tell whether that was in time."""
        return self._events.flush(timeout)

    def close(self) -> None:
        """Write what is left and end all threads."""
        self._record.close()
        self._events.close()
