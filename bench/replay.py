"""A replay: a whole world with the real autoscaler in it, on one clock, and actions at given times.

The pauses of the autoscaler's loop are what lets the world's time pass. So its loops begin when they would in life:
every scan interval, after one that did something, soon after a pod was found unschedulable, and when a timer ends.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Event
from types import TracebackType
from typing import Self

from nodewright.api import Decision, Outcome, Plugin, hookimpl
from nodewright.decision.memory import Memory
from nodewright.testing.clock import EPOCH, SteppedClock
from nodewright.testing.harness import Harness
from nodewright_fake.scenario import parse_scenario
from nodewright_fake.world import World

_CONFIG = "apiVersion: nodewright.dev/v1\nkind: Autoscaler\nproviders: [fake: {{url: '{url}'}}]\n{settings}"
_LOGGERS = ("nodewright", "nodewright_fake")


class Observer(Plugin):
    """Records what the autoscaler did."""

    def __init__(self) -> None:
        super().__init__(self.Config())
        self.loops = 0
        #: Pods that were asked to leave their nodes.
        self.evicted: set[str] = set()
        #: What could not be done.
        self.failures: list[str] = []

    @hookimpl
    def on_decision(self, decision: Decision) -> None:
        """Count it."""
        self.loops += 1

    @hookimpl
    def on_outcome(self, outcome: Outcome) -> None:
        """Record which evictions were accepted, and what failed."""
        if not outcome.ok:
            self.failures.append(f"{outcome.action} {outcome.target}: {outcome.error}")
        elif outcome.action == "evict":
            self.evicted.add(outcome.target)


class Replay:
    """A world from a *scenario* in YAML, and an autoscaler with *settings* in YAML; both run in the ``with`` block.

    All that is logged as a warning or worse meanwhile is in *complaints*.
    """

    def __init__(self, scenario: str, settings: str = "") -> None:
        self.observer = Observer()
        #: Called whenever the world has come to rest.
        self.checks: list[Callable[[], None]] = []
        self.complaints: list[str] = []
        self._clock = _WorldClock(self._catch_up)
        self.world = World(parse_scenario(scenario), self._clock)
        self._settings = settings
        self._seen = 0
        self._log = _Log(self.complaints)

    def __enter__(self) -> Self:
        self.world.start()
        self._autoscaler = Harness(
            _CONFIG.format(url=self.world.provider_config["url"], settings=self._settings),
            kubeconfig=str(self.world.kubeconfig),
            clock=self._clock,
            observers={"replay": self.observer},
        ).__enter__()
        self._clock.world = self.world
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._log)
        self._autoscaler.__exit__(kind, error, trace)
        self.world.stop()

    @property
    def seconds(self) -> float:
        """How much time has passed in the world."""
        return (self._clock.now() - EPOCH).total_seconds()

    @property
    def memory(self) -> Memory:
        """What the autoscaler remembers."""
        return self._autoscaler.memory

    def at(self, second: float, action: Callable[[], None]) -> None:
        """Do *action* so long after the start."""
        self.world.agenda.at(EPOCH + timedelta(seconds=second), action)

    def run_until(self, second: float) -> None:
        """Let the autoscaler run its loops until so long after the start."""
        stop = Event()

        def end() -> None:
            stop.set()
            self._autoscaler.wake()

        self.at(second, end)
        self._autoscaler.run(stop)

    def _catch_up(self) -> None:
        """Let the world settle, and the autoscaler see all of it."""
        self._autoscaler.deliver_events()
        self.world.settle()
        for check in self.checks:
            check()
        if self.world.store.version != self._seen:
            self._seen = self.world.sync()
            self._autoscaler.wait_for(self._seen)


class _WorldClock(SteppedClock):
    """Advances the world while a caller waits on it."""

    def __init__(self, catch_up: Callable[[], None]) -> None:
        super().__init__()
        self._catch_up = catch_up
        self.world: World | None = None

    def wait(self, event: Event, timeout: float) -> bool:
        until = self.now() + timedelta(seconds=timeout)
        while True:
            self._catch_up()
            if event.is_set():
                return True
            if self.now() >= until:
                return False
            self.advance((self._next(until) - self.now()).total_seconds())

    def _next(self, until: datetime) -> datetime:
        assert self.world is not None
        return min(until, self.world.agenda.next_moment or until)


class _Log(logging.Handler):
    """Collects warnings."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(self.format(record))
