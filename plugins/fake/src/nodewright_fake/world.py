"""A whole world: cloud, API server, everything that acts in the cluster, and the clock that they share."""

import logging
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Self

from nodewright.api import Clock, ConfigurationError, Problem
from nodewright.testing import SteppedClock

from nodewright_fake.agenda import Agenda
from nodewright_fake.apiserver.server import ApiServer
from nodewright_fake.apiserver.status import StatusError
from nodewright_fake.apiserver.store import Store
from nodewright_fake.cloud.actions import perform
from nodewright_fake.cloud.cloud import Cloud
from nodewright_fake.cloud.refusal import RefusalError
from nodewright_fake.cloud.server import CloudServer
from nodewright_fake.cluster import Cluster
from nodewright_fake.controllers import build_controllers
from nodewright_fake.controllers.nodes.kubelets import KubeletHosts
from nodewright_fake.scenario import Scenario
from nodewright_fake.scenario.story import Step

RECLAIM_TAINT = "fake.nodewright.dev/reclaim"

_ROUNDS = 1000
_IDLE_SECONDS = 3600.0

_log = logging.getLogger(__name__)


class UnsettledError(RuntimeError):
    """The actors of the world keep each other busy without end."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """A line of the story, and when it was told."""

    at: datetime
    text: str


class World:
    """A scenario come to life.

    On a real or a fast clock, the world acts by itself on a thread of its own from `start` to `stop`. On a
    `SteppedClock` it only acts within `settle` and `advance`, on the caller's thread; HTTP requests are answered at
    any time, but what follows from them waits for the next step. Same scenario, same requests, same history.

    With *adopt*, nodes that others make at the API server have kubelets as well, from when they are created until they
    are deleted: they become ready, and pods run there.

    Raises `ConfigurationError` for objects and faults of the scenario that the world refuses.
    """

    def __init__(
        self,
        scenario: Scenario,
        clock: Clock | None = None,
        *,
        api_port: int = 0,
        cloud_port: int = 0,
        adopt: bool = False,
    ) -> None:
        self.scenario = scenario
        self.clock = clock or scenario.clock.make()
        self.began = self.clock.now()
        self.agenda = Agenda(self.clock)
        self.store = Store(self.clock)
        self.cluster = Cluster(self.store)
        self.controllers = build_controllers(
            self.store, self.agenda, adopt=adopt, node_monitor_period=scenario.node_monitor_period
        )
        self.cloud = Cloud(
            agenda=self.agenda,
            hosts=KubeletHosts(self.controllers.kubelets),
            zones=scenario.zones,
            instance_types=scenario.instance_types,
            groups=scenario.groups,
            limits=scenario.limits,
            seed=scenario.seed,
        )
        self.cloud.fleet.on_notice = lambda node: self.cluster.taint(node, RECLAIM_TAINT)
        self.api_server = ApiServer(self.store, port=api_port)
        self.cloud_server = CloudServer(self.cloud, port=cloud_port)
        #: What ended the world's thread before its time, if anything did.
        self.failure: Exception | None = None
        self._notes: list[Note] = []
        self._kubeconfig: Path | None = None
        self._stopping = Event()
        self._thread: Thread | None = None
        self.store.subscribe(lambda change: self.agenda.changed.set())
        self._furnish()

    def start(self) -> Self:
        """Open the world to clients, and let it live if its clock runs by itself.

        Raises `OSError` if a port is taken; nothing is left behind then.
        """
        try:
            self.api_server.start()
            self.cloud_server.start()
        except OSError:
            self.stop()
            raise
        self._kubeconfig = _write_private(self.api_server.kubeconfig())
        if isinstance(self.clock, SteppedClock):
            self.settle()
        else:
            self._thread = Thread(target=self._live, name="fake-world", daemon=True)
            self._thread.start()
        return self

    def stop(self) -> None:
        """End everything: threads, sockets and temporary files are gone afterwards."""
        self._stopping.set()
        self.agenda.changed.set()
        if self._thread is not None:
            self._thread.join()
        self.cloud_server.stop()
        self.api_server.stop()
        self.cluster.close()
        if self._kubeconfig is not None:
            self._kubeconfig.unlink(missing_ok=True)
            self._kubeconfig = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file for the API server, there from `start` to `stop`."""
        if self._kubeconfig is None:
            raise RuntimeError("the world is not up: call start() first")
        return self._kubeconfig

    @property
    def provider_config(self) -> dict[str, str]:
        """What to write under ``fake`` in the list of providers."""
        return {"url": self.cloud_server.url}

    @property
    def notes(self) -> tuple[Note, ...]:
        """The lines of the story so far."""
        return tuple(self._notes)

    def settle(self) -> None:
        """Do everything that is due now, until no actor has anything left to do.

        For stepped worlds. Raises `UnsettledError` if that never comes to an end.
        """
        for _ in range(_ROUNDS):
            busy = self.agenda.run_due()
            for controller in self.controllers.all:
                busy = controller.reconcile() or busy
            if not busy:
                return
        wrote = [type(controller).__name__ for controller in self.controllers.all if controller.reconcile()]
        raise UnsettledError(f"after {_ROUNDS} rounds the world is not at rest; still at work: {', '.join(wrote)}")

    def advance(self, seconds: float) -> None:
        """Let time pass, moment by moment, as much as it takes for everything that is due to be done on time.

        For stepped worlds.
        """
        clock = self.clock
        if not isinstance(clock, SteppedClock):
            raise TypeError("only a world on a SteppedClock can be advanced: this one's time passes by itself")
        target = clock.now() + timedelta(seconds=seconds)
        self.settle()
        while (moment := self.agenda.next_moment) is not None and moment <= target:
            clock.advance((moment - clock.now()).total_seconds())
            self.settle()
        clock.advance((target - clock.now()).total_seconds())

    def sync(self) -> int:
        """Send a bookmark to every watch, and return its version: a client that gets it has seen at least that much."""
        version = self.store.version
        self.api_server.send_bookmarks()
        return version

    def control(self, action: str, **fields: object) -> None:
        """Do one of the actions that scenarios know, such as ``control("stock-out", pool="*")``.

        Raises `RefusalError` if it can't be done, and pydantic's `ValidationError` if it makes no sense.
        """
        perform(self.cloud, action, fields)

    def _furnish(self) -> None:
        for manifest in self.scenario.manifests:
            with _blaming(f"{manifest['kind']} {manifest['metadata'].get('name', '')}"):
                self.cluster.apply(manifest)
        for index, fault in enumerate(self.scenario.faults):
            with _blaming(f"faults[{index}]"):
                fault.apply(self.cloud)
        for step in self.scenario.story:
            self.agenda.at(self.began + timedelta(seconds=step.at), self._teller(step))

    def _teller(self, step: Step) -> Callable[[], None]:
        return lambda: self._tell(step)

    def _tell(self, step: Step) -> None:
        if step.note:
            self._note(step.note)
        try:
            for manifest in step.apply:
                self.cluster.apply(manifest)
            if step.scale:
                self.cluster.scale(step.scale.namespace, step.scale.deployment, step.scale.replicas)
            if step.delete:
                self.cluster.delete(step.delete.api_version, step.delete.kind, step.delete.namespace, step.delete.name)
            if step.cloud:
                step.cloud.apply(self.cloud)
        except (StatusError, RefusalError) as error:
            _log.warning("a step of the story failed: %s", error)
            self._note(f"(could not be done: {error})")

    def _note(self, text: str) -> None:
        self._notes.append(Note(at=self.clock.now(), text=text))

    def _live(self) -> None:
        try:
            while True:
                # In this order: `stop`, which sets both, is never missed.
                self.agenda.changed.clear()
                if self._stopping.is_set():
                    return
                self.settle()
                moment = self.agenda.next_moment
                idle = (moment - self.clock.now()).total_seconds() if moment else _IDLE_SECONDS
                self.clock.wait(self.agenda.changed, idle)
        except Exception as error:
            _log.exception("the world has come to an end")
            self.failure = error


@contextmanager
def _blaming(path: str) -> Iterator[None]:
    """Turn what the world refuses while it is built into a mistake of its scenario."""
    try:
        yield
    except (StatusError, RefusalError) as error:
        raise ConfigurationError(Problem(source="scenario", path=path, message=str(error))) from error


def _write_private(text: str) -> Path:
    descriptor, path = tempfile.mkstemp(prefix="nodewright-world-", suffix=".kubeconfig")
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    return Path(path)
