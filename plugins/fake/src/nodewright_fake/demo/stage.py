"""The stage: a world with an autoscaler in it, both of which are watched."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import yaml
from nodewright.api import Clock, ConfigurationError, Problem
from nodewright.testing import FastClock

from nodewright_fake.demo.camera import BackedOff, Camera
from nodewright_fake.demo.history import History
from nodewright_fake.demo.log import LineKind, Log, Warnings
from nodewright_fake.demo.scene import Scene
from nodewright_fake.demo.summary import Bill, Summary, Tally, Trouble
from nodewright_fake.demo.watcher import Watcher
from nodewright_fake.scenario import Scenario
from nodewright_fake.world import World

if TYPE_CHECKING:
    from nodewright.testing import Harness

#: The loggers of everything that lives on the stage.
_LOGGERS = ("nodewright", "nodewright_fake")


class Stage:
    """Begins and ends with its ``with`` block. `scene` and `summary` are for one thread.

    *speed* and *length* of the story are shown on the scene; no length is no end.
    """

    def __init__(
        self, scenario: Scenario, clock: Clock, *, speed: float = 0.0, length: timedelta | None = None
    ) -> None:
        self.scenario = scenario
        self._speed = speed
        self._length = length
        self.log = Log(clock)
        self.world = World(scenario, clock)
        self._watcher = Watcher(self.log)
        self._history = History(self.world, self.log)
        self._camera = Camera(self.world, self._history, self._watcher, self.log)
        self._warnings = Warnings(self.log)
        self._announcement = ""
        self._harness: Harness | None = None

    def __enter__(self) -> Self:
        self.world.start()
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._warnings)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.world.stop()
        self._history.close()
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._warnings)

    def autoscaler(self) -> "Harness":
        """Return the autoscaler for this world, not started yet.

        Raises `ConfigurationError` if the scenario's settings for it can't be used.
        """
        # Takes half a second to import: a screen need not wait for it.
        from nodewright.testing import Harness

        try:
            self._harness = Harness(
                yaml.safe_dump(configuration(self.scenario, self.world.provider_config)),
                kubeconfig=str(self.world.kubeconfig),
                clock=self.world.clock,
                observers={"demo": self._watcher},
            )
        except ConfigurationError as error:
            # The line numbers are those of a text that the user has never seen.
            problems = (replace(problem, source="autoscaler, in the scenario", line=0) for problem in error.problems)
            raise ConfigurationError(*problems) from error
        return self._harness

    @property
    def over(self) -> bool:
        """Whether the story has come to its end."""
        return self._length is not None and self.world.clock.now() >= self.world.began + self._length

    def announce(self, text: str) -> None:
        """Say something in the story's place, from now on."""
        self._announcement = text
        self.log.tell(LineKind.STORY, text)

    def scene(self) -> Scene:
        """This moment."""
        self._history.update()
        notes = self.world.notes
        return self._camera.scene(
            note=self._announcement or (notes[-1].text if notes else ""),
            length=self._length,
            speed=self._speed,
            backed_off=self._backed_off(),
        )

    def summary(self) -> Summary:
        """The figures as of now."""
        self._history.update()
        watcher, history, now = self._watcher, self._history, self.world.clock.now()
        # Copied in one go, whatever the autoscaler's thread is adding at the moment.
        decisions, troubles = watcher.decisions.copy(), watcher.troubles.copy() + history.troubles
        spending = self.world.cloud.spending
        groups = [group.settings.name for group in self.world.cloud.groups]
        with self.world.store.lock:
            return Summary(
                elapsed=now - self.world.began,
                placed_at_once=history.waits.at_once,
                waits=tuple(history.waits.over),
                still_waiting=len(history.waits.pending),
                first_nodes=sum(group.initial_size for group in self.scenario.groups),
                peak_nodes=history.peak_nodes,
                last_nodes=history.roster.ready,
                bills=tuple(
                    Bill(group=group, hours=spending[group].hours, cost=spending[group].cost)
                    for group in dict.fromkeys((*groups, *spending))
                    if group in spending
                ),
                peak_rate=history.rates.peak,
                tallies=tuple(
                    Tally(cause=cause, decisions=number, nodes=watcher.nodes[cause])
                    for cause, number in decisions.items()
                ),
                evictions=watcher.evictions,
                troubles=tuple(Trouble(what=what, times=times) for what, times in troubles.items()),
            )

    def _backed_off(self) -> Mapping[str, BackedOff]:
        now = self.world.clock.now()
        backoffs = self._harness.memory.health.backoffs if self._harness is not None else {}
        return {
            group: BackedOff(until=backoff.until, code=backoff.code)
            for group, backoff in backoffs.items()
            if now < backoff.until
        }


def configuration(scenario: Scenario, provider: Mapping[str, str]) -> dict[str, Any]:
    """Return the autoscaler's configuration: what the scenario says, for the scenario's own world.

    Raises `ConfigurationError` if the scenario names other clouds.
    """
    if "providers" in scenario.autoscaler:
        message = "leave them out: the demo's only provider is the scenario's own cloud"
        raise ConfigurationError(Problem(path="providers", message=message))
    return {
        "apiVersion": "nodewright.dev/v1",
        "kind": "Autoscaler",
        "cluster": scenario.name or "demo",
        **scenario.autoscaler,
        "providers": [{"fake": dict(provider)}],
    }


class StoryClock:
    """Stands still until `begin`, and then runs *speed* times as fast as real time. Implements `nodewright.api.Clock`.

    So a story is the same on a machine that takes long to start everything.
    """

    def __init__(self, *, speed: float, start: datetime | None = None) -> None:
        self.speed = speed
        self._start = start or datetime.now(UTC).replace(microsecond=0)
        self._running: FastClock | None = None

    def begin(self) -> None:
        """Let time pass from now on."""
        self._running = FastClock(speed=self.speed, start=self._start)

    def now(self) -> datetime:
        """The time of the story."""
        return self._start if self._running is None else self._running.now()

    def wait(self, event: Event, timeout: float) -> bool:
        """Wait until *event* is set, or for the real time that *timeout* seconds take; return whether it was set."""
        return event.wait(max(0.0, timeout) / self.speed)
