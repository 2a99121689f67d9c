"""A plugin that does not come back is named, with the place in its code."""

import threading
from contextlib import contextmanager
from datetime import timedelta

import pytest
from nodewright.config.model import Loop
from nodewright.plugins import Fault, Faults
from nodewright.runtime import watchdog as module
from nodewright.runtime.liveness import Liveness
from nodewright.runtime.watchdog import Watchdog, hanging
from nodewright.testing import SteppedClock


class Life:
    """A watchdog, seconds that pass for it, and calls of plugins that last until they are told to end."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(module, "monotonic", lambda: self.now)
        monkeypatch.setattr("nodewright.plugins.calls.monotonic", lambda: self.now)
        self.faults = Faults(SteppedClock())
        self.heard: list[Fault] = []
        self.faults.listen(self.heard.append)
        self.watchdog = Watchdog()

    @contextmanager
    def calling(self, plugin, where, *, before=lambda: None):
        """Have a thread in a call of *plugin* for the time of the context; it does something *before*."""
        begun, end = threading.Event(), threading.Event()

        def hang():
            before()
            begun.set()
            end.wait(30)

        thread = threading.Thread(target=self.faults.call, args=(plugin, where, hang), kwargs={"default": None})
        thread.start()
        begun.wait(30)
        try:
            yield
        finally:
            end.set()
            thread.join()

    def after(self, seconds):
        """Let time pass and look; return how many faults there are by now."""
        self.now += seconds
        self.watchdog.look()
        return len(self.heard)


@pytest.fixture
def life(monkeypatch):
    return Life(monkeypatch)


def test_a_call_that_lasts_too_long_is_a_fault_with_its_place(life) -> None:
    with life.calling("mine", "best"):
        assert life.after(9) == 0
        assert life.after(1) == 1
    (fault,) = life.heard
    assert (fault.plugin, fault.where) == ("mine", "best")
    assert fault.error.startswith("has been in best for 10 s (at threading.py:")


def test_it_is_named_again_when_it_has_lasted_twice_as_long(life) -> None:
    with life.calling("mine", "best"):
        assert [life.after(5) for _ in range(8)] == [0, 1, 1, 2, 2, 2, 2, 3]


def test_a_call_with_a_deadline_may_last_until_then(life) -> None:
    life.watchdog.patience_with = lambda where: timedelta(seconds=60 if where == "refresh" else 10)
    with life.calling("mine", "refresh"):
        assert life.after(59) == 0
        assert life.after(1) == 1


def test_a_call_that_came_back_is_forgotten(life) -> None:
    with life.calling("mine", "best"):
        pass
    assert life.after(100) == 0
    assert hanging() == ""


def test_health_says_which_plugin_keeps_the_loop_waiting_even_in_the_first_loop(life) -> None:
    loop = Loop(max_inactivity=timedelta(minutes=1), max_startup_time=timedelta(hours=1))
    liveness = Liveness(loop, now=lambda: life.now)
    with life.calling("mine", "best", before=liveness.began):
        life.now += 59
        assert liveness.trouble() == ""
        life.now += 2
        assert liveness.trouble().startswith("plugin mine has been in best for 61 s (at threading.py:")


def test_health_does_not_mind_a_provider_that_hangs_on_its_own_thread(life) -> None:
    liveness = Liveness(Loop(max_inactivity=timedelta(minutes=1)))
    liveness.began()
    with life.calling("cloud", "refresh"):
        life.now += 3600
        assert "cloud" not in liveness.trouble()
