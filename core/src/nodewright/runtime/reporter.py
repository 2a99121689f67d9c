"""The reporter: whatever people and machines learn of decisions and of how they went passes here."""

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision, Outcome
from nodewright.config.model import Settings
from nodewright.kube.events import EventWriter
from nodewright.kube.transport import Transport
from nodewright.memory import Memory
from nodewright.particulars import Particulars
from nodewright.runtime.announcer import Announcer
from nodewright.runtime.node_news import NodeNews
from nodewright.serve.metrics import Metrics, Sight
from nodewright.world import World


class Reporter:
    """Tells in logs, events and metrics what the loop does. For the loop's thread; nothing here stops a loop."""

    def __init__(self, settings: Settings, transport: Transport, clock: Clock) -> None:
        self.metrics = Metrics(clock)
        self._settings = settings
        self._events = EventWriter(transport, clock, settings.namespace, on_drop=self.metrics.events_dropped.inc)
        self._announcer = Announcer(self._events)
        self._node_news = NodeNews(self._events)

    def began(self) -> None:
        """Note that a loop begins."""
        self.metrics.begin_loop()

    def took(self, **seconds: float) -> None:
        """Note how many seconds parts of a loop took, by their names: see `Metrics.took`."""
        self.metrics.took(seconds)

    def decided(
        self, decision: Decision, before: Memory, memory: Memory, world: World, particulars: Particulars
    ) -> None:
        """Tell what the decision of a loop says of nodes, groups and pods; memory is that of *before* and of after."""
        sight = Sight(world=world, decision=decision, memory=memory, settings=self._settings, particulars=particulars)
        self.metrics.note_loop(sight, before)
        if self._settings.events.nodes:
            self._node_news.tell(decision, before, memory, world)

    def acting(self, decision: Decision, world: World) -> None:
        """Tell of a decision that is about to be carried out: the loop's own, or one on what else to grow."""
        self._announcer.announce(decision, world)
        self.metrics.note_orders(decision, world)

    def acted(self, outcomes: tuple[Outcome, ...]) -> None:
        """Tell how actions went."""
        self._announcer.report(outcomes)
        self.metrics.note_outcomes(outcomes)

    def finished(self, *, seconds: float) -> None:
        """Tell that a loop has ended well, *seconds* after it began."""
        self.metrics.end_loop(seconds)

    def failed(self, error: Exception) -> None:
        """Tell that a loop has ended with an *error*."""
        self.metrics.note_failure(error)

    def reconfigured(self, settings: Settings) -> None:
        """Go on by other *settings*."""
        self._settings = settings
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
        self._events.close()
