"""A failing plugin is named and counted, and affects no other."""

import logging
from asyncio import CancelledError
from datetime import timedelta
from threading import Thread

import pytest
from nodewright.api import ThrottledError
from nodewright.plugins import Fault, Faults
from nodewright.plugins.error_text import describe
from nodewright.plugins.results import instance_of
from nodewright.testing import SteppedClock

LOGGER = "nodewright.plugins.faults"


def fail(error: BaseException) -> int:
    raise error


def test_a_call_that_works_returns_its_result_and_leaves_no_trace() -> None:
    faults = Faults(SteppedClock())
    assert faults.call("mine", "best", max, 1, 2, default=0) == 2
    assert faults.counts == {}


def test_a_call_that_fails_returns_the_default_and_is_counted() -> None:
    faults = Faults(SteppedClock())
    assert faults.call("mine", "best", fail, ValueError("no"), default=7) == 7
    assert faults.call("mine", "best", fail, ValueError("no"), default=7) == 7
    assert faults.call("mine", "process", fail, ValueError("no"), default=7) == 7
    assert faults.counts == {("mine", "best"): 2, ("mine", "process"): 1}


def test_a_result_of_the_wrong_type_is_a_fault() -> None:
    faults = Faults(SteppedClock())
    heard: list[Fault] = []
    faults.listen(heard.append)
    assert faults.call("mine", "best", lambda: "3", default=0, returns=instance_of(int)) == 0
    assert heard == [Fault(plugin="mine", where="best", error="TypeError: returned a str instead of int")]


@pytest.mark.parametrize("ending", [SystemExit(3), GeneratorExit(), CancelledError()])
def test_an_attempt_to_end_the_process_is_a_fault(ending) -> None:
    faults = Faults(SteppedClock())
    heard: list[Fault] = []
    faults.listen(heard.append)
    assert faults.call("mine", "best", fail, ending, default=7) == 7
    said = f"{type(ending).__name__}: 3" if str(ending) else type(ending).__name__
    assert heard == [Fault(plugin="mine", where="best", error=f"it tried to end the process ({said})")]


def test_ctrl_c_is_no_fault() -> None:
    with pytest.raises(KeyboardInterrupt):
        Faults(SteppedClock()).call("mine", "best", fail, KeyboardInterrupt(), default=None)


def test_an_interrupt_that_no_person_gave_is_a_fault() -> None:
    faults = Faults(SteppedClock())
    thread = Thread(target=lambda: faults.call("mine", "refresh", fail, KeyboardInterrupt(), default=None))
    thread.start()
    thread.join()
    assert faults.counts == {("mine", "refresh"): 1}


def test_listeners_hear_of_every_fault() -> None:
    faults = Faults(SteppedClock())
    heard: list[Fault] = []
    faults.listen(heard.append)
    faults.note("mine", "refresh", ThrottledError("too many\n calls"))
    faults.note("mine", "refresh", LookupError())
    assert [fault.error for fault in heard] == ["too many calls", "LookupError"]


def test_the_first_fault_is_logged_with_plugin_and_place(caplog) -> None:
    Faults(SteppedClock()).note("mine", "best", ValueError("no"))
    (record,) = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == (
        LOGGER,
        logging.WARNING,
        "plugin mine failed in best: ValueError: no",
    )
    assert (vars(record)["plugin"], vars(record)["where"]) == ("mine", "best")
    assert record.exc_info is None


def test_the_traceback_is_logged_for_those_who_debug(caplog) -> None:
    caplog.set_level(logging.DEBUG, logger=LOGGER)
    Faults(SteppedClock()).call("mine", "best", fail, ValueError("no"), default=0)
    assert "in fail\n    raise error\nValueError: no" in caplog.text


def test_a_plugin_that_keeps_failing_is_logged_once_in_five_minutes(caplog) -> None:
    clock = SteppedClock()
    faults = Faults(clock)
    for _ in range(13):
        faults.note("mine", "best", ValueError("no"))
        clock.advance(30)
    assert [record.getMessage() for record in caplog.records] == [
        "plugin mine failed in best: ValueError: no",
        "plugin mine failed in best: ValueError: no (and 9 more times since the last report)",
    ]
    assert faults.counts == {("mine", "best"): 13}


def test_another_place_of_the_same_plugin_is_logged_by_itself(caplog) -> None:
    faults = Faults(SteppedClock(), repeat=timedelta(hours=1))
    faults.note("mine", "best", ValueError("no"))
    faults.note("mine", "close", ValueError("no"))
    faults.note("other", "best", ValueError("no"))
    assert len(caplog.records) == 3


def test_a_clock_that_was_set_back_silences_no_plugin(caplog) -> None:
    clock = SteppedClock()
    faults = Faults(clock)
    faults.note("mine", "best", ValueError("no"))
    clock.advance(-3600)
    faults.note("mine", "best", ValueError("no"))
    assert len(caplog.records) == 2


def test_a_time_without_a_zone_is_told_as_such() -> None:
    said = describe(TypeError("can't compare offset-naive and offset-aware datetimes"))
    assert said.endswith("datetimes: the times that Nodewright gives have a time zone, and so must yours")
