"""When the next cycle begins, and what happens when one fails."""

import logging
from datetime import timedelta
from threading import Event
from types import SimpleNamespace

import pytest
from nodewright.api import Decision, NotLeaderError, TemporaryError
from nodewright.config.model import Loop
from nodewright.runtime.liveness import Liveness
from nodewright.runtime.loop import ControlLoop
from nodewright.testing.clock import EPOCH


class Clock:
    """Waits for nothing and notes how long it was to wait; its time stands still."""

    def __init__(self):
        self.waits = []
        self.woken = False

    def now(self):
        return EPOCH

    def wait(self, event, timeout):
        self.waits.append(timeout)
        return self.woken


class Waking:
    """Wakes the loop once, *after* so many seconds of its first wait."""

    def __init__(self, clock, *, after):
        self._clock = clock
        self._after = after

    def __call__(self, event, timeout):
        self._clock.waits.append(timeout)
        self._clock.now = lambda: EPOCH + timedelta(seconds=self._after)
        return len(self._clock.waits) == 1


class Cycle:
    """Does what its test wants, one thing for each cycle, and has the loop stopped after the last."""

    def __init__(self, stop, results, *, productive, readable, settings, breather=timedelta(0)):
        self.productive = productive
        self.session = SimpleNamespace(
            settings=SimpleNamespace(loop=settings),
            unreadable="" if readable else "provider a can't be read: no answer",
            breather=breather,
        )
        self._stop = stop
        self._results = list(results)

    def run(self):
        result = self._results.pop(0)
        if not self._results:
            self._stop.set()
        if isinstance(result, Exception):
            raise result
        return result


class Reporter:
    def __init__(self):
        self.failures = []

    def failed(self, error):
        self.failures.append(error)

    def took(self, **seconds):
        assert list(seconds) == ["loopWait"]


DONE = Decision(at=EPOCH)


class Running:
    """A loop that has run cycles with *results*."""

    def __init__(
        self,
        *results,
        productive=False,
        readable=True,
        woken=False,
        permit=lambda: None,
        breather=timedelta(0),
        **settings,
    ):
        self.stop, self.wake = Event(), Event()
        self.clock, self.reporter = Clock(), Reporter()
        self.clock.woken = woken
        self.seconds = 0.0
        self.liveness = Liveness(Loop(), now=lambda: self.seconds)
        cycle = Cycle(
            self.stop, results, productive=productive, readable=readable, settings=Loop(**settings), breather=breather
        )
        self.loop = ControlLoop(cycle, self.clock, permit, self.wake, self.liveness, self.reporter)

    def run(self):
        self.loop.run(self.stop)
        return self


def test_the_next_cycle_begins_after_the_interval() -> None:
    assert Running(DONE, DONE, scanInterval="20s").run().clock.waits == [20, 20]


def test_a_productive_cycle_is_followed_by_the_next_at_once() -> None:
    assert Running(DONE, productive=True).run().clock.waits == [0.5]


@pytest.mark.parametrize(("fields", "waits"), [({"productive": True}, [0.8]), ({"woken": True}, [10, 0.8])])
def test_a_cloud_that_has_just_refused_a_call_is_given_a_moment_before_the_next_cycle(fields, waits) -> None:
    assert Running(DONE, breather=timedelta(seconds=0.8), **fields).run().clock.waits == waits


def test_after_a_wake_up_the_loop_waits_for_what_belongs_together() -> None:
    assert Running(DONE, woken=True).run().clock.waits == [10, 0.5]


def test_a_wake_up_does_not_put_off_what_is_due_before() -> None:
    running = Running(Decision(at=EPOCH, again=EPOCH + timedelta(seconds=0.9)))
    running.clock.wait = Waking(running.clock, after=0.7)
    assert running.run().clock.waits == [0.9, pytest.approx(0.2)]


def test_unless_loops_may_be_frequent_the_interval_is_always_waited_for() -> None:
    assert Running(DONE, productive=True, woken=True, frequent=False).run().clock.waits == [10]


@pytest.mark.parametrize(("after", "waited"), [(-5, 0.5), (3, 3), (60, 10)])
def test_a_decision_says_when_it_wants_to_be_looked_at_again(after, waited) -> None:
    again = Decision(at=EPOCH, again=EPOCH + timedelta(seconds=after))
    assert Running(again).run().clock.waits == [waited]


def test_a_stop_that_comes_before_the_wake_up_is_never_missed() -> None:
    running = Running(DONE)
    running.stop.set()
    running.wake.set()
    assert running.run().clock.waits == []


def test_the_same_trouble_is_a_warning_once_and_every_failure_is_reported(caplog) -> None:
    slow = [TemporaryError(f"no answer for {seconds} s") for seconds in (10, 20)]
    with caplog.at_level(logging.DEBUG, "nodewright.runtime.loop"):
        running = Running(*slow, DONE, slow[0], TemporaryError("gone")).run()
    levels = [record.levelname for record in caplog.records]
    assert levels == ["WARNING", "DEBUG", "WARNING", "WARNING"]
    assert len(running.reporter.failures) == 4


def test_a_defect_ends_one_cycle_and_not_the_loop(caplog) -> None:
    defect = ZeroDivisionError("by nothing")
    running = Running(defect, DONE).run()
    assert running.reporter.failures == [defect]
    assert "ZeroDivisionError: by nothing" in caplog.text


def test_a_lost_lease_ends_the_loop_in_a_cycle() -> None:
    running = Running(NotLeaderError("lost"), DONE)
    with pytest.raises(NotLeaderError):
        running.run()
    assert running.reporter.failures == []


def test_a_lost_lease_ends_the_loop_before_a_cycle() -> None:
    def permit():
        raise NotLeaderError("lost")

    running = Running(DONE, permit=permit)
    with pytest.raises(NotLeaderError):
        running.run()
    assert running.clock.waits == []


@pytest.mark.parametrize("readable", [True, False])
def test_a_cycle_ends_well_if_any_cloud_could_be_read(readable) -> None:
    running = Running(DONE, readable=readable).run()
    # Too long after a good cycle, and not too long for the first good one to come.
    running.seconds = 1000
    assert ("no loop ended well" in running.liveness.trouble()) == readable
