"""The autoscaler: puts the parts of the loop together."""

from collections.abc import Mapping
from datetime import timedelta
from threading import Event

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision
from nodewright.api.plugin import Plugin
from nodewright.cluster import Cluster
from nodewright.config.model import Settings
from nodewright.config.watch import ConfigFile
from nodewright.decision.memory import Memory
from nodewright.explain.look import Look
from nodewright.kube.feed import Feed
from nodewright.kube.lease import Lease
from nodewright.kube.lookup import find_pod
from nodewright.kube.transport import Transport
from nodewright.memory_store import keeper_for
from nodewright.objects import Pod
from nodewright.plugins import Faults, Registry
from nodewright.runtime.cycle import Cycle
from nodewright.runtime.dry_run import DryRunCycle
from nodewright.runtime.informer import Informer
from nodewright.runtime.leadership import Leadership
from nodewright.runtime.liveness import Liveness
from nodewright.runtime.loop import ControlLoop
from nodewright.runtime.reload import Reloader
from nodewright.runtime.reporting import Reporter
from nodewright.runtime.session import Session
from nodewright.runtime.watchdog import PATIENCE
from nodewright.scenario.scenario import Picture
from nodewright.serve.metrics import Metrics
from nodewright.serve.snapshots import Snapshots

#: The methods of groups that carry actions out.
_ACTIONS = ("increase", "increase_atomically", "delete_nodes", "force_delete_nodes", "decrease_target")


class Autoscaler:
    """Keeps a cluster at the size that its pods need.

    Call `start`, `lead`, then `run` (or `run_once` as often as wanted), then `close`, all on one thread. With a
    *lease*, nothing is changed while it is not held, and `lead` has to come before `run`.
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
        # Before any part that could write has it.
        transport = transport.read_only() if settings.dry_run else transport
        registry, faults, wake = registry or Registry(), Faults(clock), Event()
        #: What has to be held to act; None if nothing has.
        self.lease = lease
        #: Whether the loop is alive.
        self.liveness = Liveness(settings.loop)
        #: Address of the API server.
        self.host = transport.host
        self._wake = wake
        self._transport = transport
        self._leadership = leadership = Leadership(lease)
        self._informer = informer = Informer(transport, clock, wake.set)
        self._reporter = reporter = Reporter(settings, transport, clock, leadership, informer.feed.troubles)
        faults.listen(reporter.faulted)
        self._keeper = keeper_for(settings, transport, clock, on_write=reporter.kept)

        def open_session(settings: Settings) -> Session:
            session = Session(
                settings, registry, transport, clock, faults, informer.taint_latency, leadership.permit, observers or {}
            )
            reporter.metrics.plugins.show(session.collectors(), faults)
            return session

        reloader = Reloader(open_session(settings), open_session, config_file, informer, self.liveness, reporter)
        cycle_class = DryRunCycle if settings.dry_run else Cycle
        self._cycle = cycle_class(reloader, informer, reporter, self._keeper, clock, leadership.permit)
        self._loop = ControlLoop(self._cycle, clock, leadership.permit, wake, self.liveness, reporter)

    @property
    def memory(self) -> Memory:
        """What is remembered by now. For the loop's thread."""
        return self._cycle.memory

    @memory.setter
    def memory(self, memory: Memory) -> None:
        self._cycle.memory = memory

    @property
    def metrics(self) -> Metrics:
        """The metrics that Prometheus reads."""
        return self._reporter.metrics

    @property
    def snapshots(self) -> Snapshots:
        """What a loop saw, for clients who ask for it."""
        return self._reporter.snapshots

    @property
    def cluster(self) -> Cluster:
        """What is known of the cluster. For the loop's thread."""
        return self._informer.cluster

    @property
    def feed(self) -> Feed:
        """What was seen of the cluster and not taken up yet."""
        return self._informer.feed

    @property
    def busy(self) -> bool:
        """Whether an action of an earlier loop is still under way: it took longer than `loop.actionTimeout`."""
        return self._cycle.session.busy

    @property
    def active(self) -> bool:
        """Whether any action is under way. Safe to ask from any thread."""
        return self._cycle.session.active

    @property
    def obstacle(self) -> str:
        """Why this replica runs no loops; empty if it does. Safe to ask from any thread."""
        return self._leadership.obstacle or ("no loop has begun yet" if self.liveness.idle else "")

    def patience_with(self, where: str) -> timedelta:
        """Return how long a plugin's call in this place may last before it is named: its deadline, if it has one."""
        loop = self._cycle.session.settings.loop
        deadlines = {"refresh": loop.refresh_timeout, **dict.fromkeys(_ACTIONS, loop.action_timeout)}
        return deadlines.get(where, PATIENCE)

    def start(self, timeout: float = 60.0, *, patient: bool = False) -> None:
        """Begin to watch the cluster; return when all of it was seen once.

        Raises `ApiServerError` after *timeout* seconds; if *patient*, logs why it takes so long and goes on waiting.
        """
        session = self._cycle.session
        self._informer.watch(session.settings, session.config_maps, session.pod_annotations)
        self._leadership.look()
        self._informer.wait(timeout, patient=patient)

    def lead(self, stop: Event) -> bool:
        """Wait until this replica may act or *stop* is set; return whether it may. Keep up with the cluster meanwhile.

        This replica goes on with the memory of the last leader. Raises `ApiServerError` if that can't be read for a
        while.
        """
        if not self._leadership.win(stop, self._informer.catch_up):
            return False
        if self.lease is not None:
            self._reporter.leading(self.lease, "became leader")
        self.liveness.began()
        self.recall()
        return True

    def recall(self) -> None:
        """Take over the memory of the last process; from now on this process writes it. Before the first loop.

        Raises `ApiServerError` if the API server does not answer for a while.
        """
        self.memory = self._keeper.load()

    def glance_at_memory(self) -> None:
        """Go on with the memory of the running autoscaler, but don't take it over: for `look` and `picture` only."""
        self.memory = self._keeper.peek()

    def run(self, stop: Event) -> None:
        """Run loops until *stop* is set; `wake` after that, or the end comes with the next loop.

        What goes wrong in one loop is logged, and the next one tries again. Raises `NotLeaderError` if the lease is
        lost.
        """
        self._loop.run(stop)

    def wake(self) -> None:
        """Begin the next loop at once. Safe to call from any thread."""
        self._wake.set()

    def run_once(self) -> Decision:
        """Run one loop and return what was decided in it. Raises what goes wrong."""
        return self._cycle.run()

    def look(self) -> Look:
        """Decide as in a loop, but do, report and remember nothing of it."""
        world, now = self._cycle.observe()
        return self._cycle.session.look(world, self.memory, now)

    def resolve(self, kind: str, id: str) -> str | None:  # noqa: A002  as in the contract
        """Return the group that an object names in a cloud's own words, as of the last look; None if it names none."""
        return self._cycle.session.resolve(kind, id)

    def find_pod(self, key: str) -> Pod | None:
        """Return the pod ``namespace/name`` as the API server has it now, also if it has ended; None if it is gone."""
        return find_pod(self._transport, key)

    def picture(self) -> Picture:
        """Return all that the next decision would go by. Write it on this thread, before anything else is done."""
        world, now = self._cycle.observe()
        return self._cycle.session.picture(world, self.memory, now)

    def deliver_memory(self, timeout: float = 10.0) -> bool:
        """Wait until what is remembered by now is stored; return whether that was in time."""
        return self._cycle.store_memory(timeout)

    def deliver_events(self, timeout: float = 10.0) -> bool:
        """Wait until the events of all loops so far are written or given up; return whether that was in time."""
        return self._reporter.deliver(timeout)

    def close(self) -> None:
        """Write the memory and the events that are left, end all threads, release all plugins and the lease."""
        session = self._cycle.session
        session.close()
        self._keeper.close()
        # Before another replica has the lease and a status of its own.
        self._reporter.withdraw()
        if self.lease is not None and self._leadership.resign(busy=session.busy):
            self._reporter.leading(self.lease, "stopped leading")
        self._reporter.close()
        self._informer.close()
