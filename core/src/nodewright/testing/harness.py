"""The harness: the whole autoscaler in a test or a demo, against any API server and on any clock."""

from collections.abc import Mapping
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import Self

from nodewright.api import Clock, Decision, Plugin
from nodewright.config.document import load
from nodewright.config.watch import ConfigFile
from nodewright.decision.memory import Memory
from nodewright.kube.transport import connect
from nodewright.plugins import Registry
from nodewright.runtime.autoscaler import Autoscaler
from nodewright.serve.metrics import Metrics
from nodewright.serve.snapshots import Snapshots


class Harness:
    """An autoscaler as `nodewright run` starts it, except for signals and the HTTP server.

    Use it as a context manager. `step` runs one loop, for tests on a stepped clock. `run` goes on until it is stopped.
    *config* is the text of a YAML configuration, or a file with one that may change at any time. *observers* are
    plugins whose hooks are called besides those that the configuration names; *memory* takes the place of what is
    stored. The API server has to answer within *patience* seconds of real time, if that is given.
    Raises `ConfigurationError` if the configuration can't be used.
    """

    def __init__(
        self,
        config: str | Path,
        *,
        kubeconfig: str,
        clock: Clock,
        observers: Mapping[str, Plugin] | None = None,
        memory: Memory | None = None,
        patience: float | None = None,
    ) -> None:
        registry = Registry()
        file = None
        if isinstance(config, Path):
            file = ConfigFile(config, classes=registry)
            settings = file.load(tolerant=True).settings
        else:
            settings = load(config, classes=registry, tolerant=True).settings
        self._transport = connect(kubeconfig=kubeconfig, user_agent=settings.kube.user_agent, patience=patience)
        self._autoscaler = Autoscaler(
            settings, self._transport, clock, registry=registry, config_file=file, observers=observers
        )
        self._memory = memory

    def __enter__(self) -> Self:
        self._autoscaler.start(timeout=20)
        self._autoscaler.recall()
        if self._memory is not None:
            self._autoscaler.memory = self._memory
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._autoscaler.close()

    def kill(self) -> None:
        """End as if the process had been killed: all threads end, and nothing more is written."""
        self._transport.close()
        self._autoscaler.close()

    @property
    def memory(self) -> Memory:
        """What the autoscaler remembers."""
        return self._autoscaler.memory

    @property
    def autoscaler(self) -> Autoscaler:
        """The autoscaler itself. Not part of the public surface."""
        return self._autoscaler

    @property
    def metrics(self) -> Metrics:
        """The autoscaler's metrics. Not part of the public surface."""
        return self._autoscaler.metrics

    @property
    def snapshots(self) -> Snapshots:
        """The snapshots of loops, as ``/snapshotz`` serves them. Not part of the public surface."""
        return self._autoscaler.snapshots

    @property
    def busy(self) -> bool:
        """Whether an action is still under way that took longer than `loop.actionTimeout`."""
        return self._autoscaler.busy

    def wait_for(self, version: int, timeout: float = 10.0) -> None:
        """Wait until the autoscaler has seen the cluster as of resource *version*.

        The API server must send bookmarks then: `World.sync` of nodewright-fake has it do so and returns the version.
        """
        self._autoscaler.feed.wait_for_version(version, timeout)

    def step(self) -> Decision:
        """Run one loop. Returns its decision once it is carried out, and memory and events are written."""
        decision = self._autoscaler.run_once()
        self._autoscaler.deliver_memory()
        self.deliver_events()
        return decision

    def deliver_events(self) -> None:
        """Wait until the events of all loops so far are written. `step` does this, `run` does not."""
        self._autoscaler.deliver_events()

    def run(self, stop: Event) -> None:
        """Run loops until *stop* is set; `wake` after that, or the end comes with the next loop."""
        self._autoscaler.run(stop)

    def wake(self) -> None:
        """Let `run` begin its next loop at once. Safe to call from any thread."""
        self._autoscaler.wake()
