"""The loop: when the next cycle begins, and what happens when one fails."""

import logging
import re
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from time import perf_counter

from nodewright.api.clock import Clock
from nodewright.api.decision import Decision
from nodewright.api.errors import NodewrightError, NotLeaderError
from nodewright.plugins.error_text import describe
from nodewright.runtime.cycle import Cycle
from nodewright.runtime.liveness import Liveness
from nodewright.runtime.reporting import Reporter

#: After a wake-up, the loop waits this long for what belongs together: pods of one burst, nodes of one order.
_GATHER_SECONDS = 0.5

_log = logging.getLogger(__name__)


class ControlLoop:
    """Runs one cycle after the other. *permit* raises `NotLeaderError` if this replica must not act."""

    def __init__(
        self,
        cycle: Cycle,
        clock: Clock,
        permit: Callable[[], None],
        wake: Event,
        liveness: Liveness,
        reporter: Reporter,
    ) -> None:
        self._cycle = cycle
        self._clock = clock
        self._permit = permit
        self._wake = wake
        self._liveness = liveness
        self._reporter = reporter
        #: What went wrong in the last cycle, without numbers.
        self._trouble = ""

    def run(self, stop: Event) -> None:
        """Run cycles until *stop* is set. Set the wake-up event after *stop*, or the end comes with the next cycle.

        What goes wrong in one cycle is logged, and the next one tries again. Raises `NotLeaderError` if the lease is
        lost.
        """
        self._trouble = ""
        while True:
            # Clear before looking at *stop*: a caller that sets *stop* and then wakes the loop is never missed.
            self._wake.clear()
            self._permit()
            if stop.is_set():
                return
            decision = self._try_cycle()
            began = perf_counter()
            self._pause(stop, decision)
            self._reporter.took(loopWait=perf_counter() - began)

    def _try_cycle(self) -> Decision | None:
        """Run a cycle and return what it decided; None if it failed."""
        self._liveness.began()
        try:
            decision = self._cycle.run()
        except NotLeaderError:
            raise
        except NodewrightError as error:
            self._log_once(error)
            self._liveness.ended_badly(str(error))
            self._reporter.failed(error)
        except Exception as error:
            _log.exception("this loop failed, the next one tries again")
            self._liveness.ended_badly(describe(error))
            self._reporter.failed(error)
        else:
            self._trouble = ""
            # If no cloud can be read at all, a restart may help.
            if unreadable := self._cycle.session.unreadable:
                self._liveness.ended_badly(unreadable)
            else:
                self._liveness.ended_well()
            return decision
        return None

    def _log_once(self, error: NodewrightError) -> None:
        """Log an *error* as a warning unless the last cycle had the same; numbers in it don't count."""
        known, self._trouble = self._trouble, re.sub(r"\d+", "", str(error))
        level = logging.DEBUG if self._trouble == known else logging.WARNING
        _log.log(level, "this loop could not be finished, the next one tries again: %s", error)

    def _pause(self, stop: Event, decision: Decision | None) -> None:
        """Wait until the next cycle is due after *decision*; None if the last cycle failed."""
        settings = self._cycle.session.settings.loop
        interval = settings.scan_interval.total_seconds()
        # A cloud that has just refused a call is given a moment.
        gather = max(min(_GATHER_SECONDS, interval), self._cycle.session.breather.total_seconds())
        due = None
        if decision is not None and decision.again is not None:
            interval = min(interval, max(gather, (decision.again - self._clock.now()).total_seconds()))
            due = self._clock.now() + timedelta(seconds=interval)
        if not settings.frequent:
            self._clock.wait(stop, interval)
            return
        # Only a cycle that did something is followed by the next at once: what is refused is not asked for in a rush.
        if self._cycle.productive or self._clock.wait(self._wake, interval):
            # What is due at a certain time is not put off by what comes just before.
            left = gather if due is None else (due - self._clock.now()).total_seconds()
            self._clock.wait(stop, min(gather, max(left, 0.0)))
