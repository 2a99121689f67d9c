"""Jobs run at once on several lanes and one after another on each, and no late one holds up its caller."""

from datetime import timedelta
from threading import Event

import pytest
from nodewright.runtime.lanes import Job, Lanes

SHORT = timedelta(milliseconds=20)
LONG = timedelta(seconds=10)


@pytest.fixture
def lanes():
    lanes = Lanes()
    yield lanes
    lanes.close()


@pytest.fixture
def release():
    """Lets steps that wait for it end; at the latest when the test ends."""
    event = Event()
    yield event
    event.set()


def job(*steps, pool=""):
    return Job(steps=steps, pool=pool)


def until_ended(lanes):
    wait = Event()
    for _ in range(1000):
        if ended := lanes.ended():
            return ended
        wait.wait(0.01)
    raise AssertionError("it never ended")


def test_lanes_run_at_the_same_time(lanes) -> None:
    here, there = Event(), Event()

    def meet(mine, other):
        mine.set()
        return other.wait(10)

    results = lanes.run({"a": job(lambda: meet(here, there)), "b": job(lambda: meet(there, here))}, LONG)
    assert results.done == {"a": [True], "b": [True]}


def test_steps_of_one_lane_run_in_order(lanes) -> None:
    done = []
    lanes.run({"a": job(*(lambda number=number: done.append(number) for number in range(50)))})
    assert done == list(range(50))


def test_a_job_is_under_way_until_it_has_ended(lanes, release) -> None:
    assert not lanes.active

    def is_active():
        return any(lanes.active or release.wait(0.01) for _ in range(100))

    assert lanes.run({"a": job(is_active)}).done == {"a": [True]}
    lanes.run({"slow": job(lambda: release.wait(10))}, SHORT)
    lanes.run({"quick": job(lambda: "done")}, LONG)
    assert lanes.active
    release.set()
    until_ended(lanes)
    assert not lanes.active


def test_a_late_job_goes_on_and_is_told_of_once(lanes, release) -> None:
    results = lanes.run({"slow": job(lambda: release.wait(10)), "quick": job(lambda: "done")}, SHORT)
    assert (results.done, results.late) == ({"quick": ["done"]}, {"slow"})
    assert lanes.ended() == {}
    assert lanes.busy
    release.set()
    assert until_ended(lanes) == {"slow": [True]}
    assert lanes.ended() == {}
    assert not lanes.busy


def test_what_is_to_be_done_on_a_late_lane_comes_after_what_is_under_way(lanes, release) -> None:
    order = []
    lanes.run({"a": job(lambda: (release.wait(10), order.append("first")))}, SHORT)
    assert lanes.run({"a": job(lambda: order.append("second"))}, SHORT).late == {"a"}
    release.set()
    until_ended(lanes)
    assert order == ["first", "second"]


def test_a_pool_that_hangs_holds_up_its_own_lanes_only_and_what_did_not_begin_never_will(lanes, release) -> None:
    begun = []
    hanging = {f"h{number}": job(lambda: release.wait(10), pool="sick") for number in range(8)}
    waiting = {"last": job(lambda: begun.append(1), pool="sick")}
    results = lanes.run({**hanging, **waiting, "other": job(lambda: "done", pool="well")}, SHORT)
    assert (results.done, results.cancelled) == ({"other": ["done"]}, {"last"})
    release.set()
    assert len(until_ended(lanes)) > 0
    assert begun == []
