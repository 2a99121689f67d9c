"""What is written to the log, and what is left out."""

import json
import logging
import re

import pytest
from nodewright.api import Decision, Outcome, Restore, Verdict
from nodewright.api.reasons import Reason
from nodewright.config.model import Settings
from nodewright.decision.memory import Memory
from nodewright.runtime.log import Quota, set_up_logging
from nodewright.runtime.reporting.decision_events import DecisionEvents
from nodewright.testing import EPOCH
from nodewright.testing.worlds import a_world

LOG = logging.getLogger("nodewright.kube.test")
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def lines(capsys):
    """Sets logging up, and returns what reads the lines that were written since."""

    def start(**how):
        set_up_logging(**how)
        return lambda: capsys.readouterr().err.splitlines()

    return start


class NoEvents:
    room = 0

    def __getattr__(self, name):
        return lambda *arguments, **more: None


def test_a_line_is_time_level_and_message(lines) -> None:
    read = lines()
    LOG.warning("cannot watch %s", "pods")
    (line,) = read()
    assert re.fullmatch(TIME + " WARNING cannot watch pods", line)


def test_as_json_a_line_has_what_it_is_about_in_fields(lines) -> None:
    read = lines(json_format=True)
    outcome = Outcome(at=EPOCH, action="grow", target="pool", ok=False, error="no")
    DecisionEvents(NoEvents()).acted((outcome,))
    (line,) = read()
    entry = json.loads(line)
    assert re.fullmatch(TIME, entry.pop("time"))
    assert entry == {
        "level": "warning",
        "logger": "nodewright.decision",
        "message": "grow pool failed, gave up on it: no",
        "action": "grow",
    }


def test_a_traceback_is_part_of_its_line_as_json(lines) -> None:
    read = lines(json_format=True)
    try:
        raise ZeroDivisionError("by nothing")
    except ZeroDivisionError:
        LOG.exception("this loop failed")
    (line,) = read()
    assert json.loads(line)["error"].endswith("ZeroDivisionError: by nothing")


@pytest.mark.parametrize(("verbosity", "told"), [(0, ["INFO"]), (4, ["INFO"]), (5, ["DEBUG", "INFO"])])
def test_details_come_from_verbosity_5_on(lines, verbosity, told) -> None:
    read = lines(verbosity=verbosity)
    LOG.debug("a detail")
    LOG.info("news")
    assert [line.split()[1] for line in read()] == told


def test_warnings_of_libraries_look_like_all_lines_and_their_chatter_is_not_there(lines) -> None:
    read = lines()
    logging.getLogger("urllib3.connectionpool").info("chatter")
    logging.getLogger("urllib3.connectionpool").warning("pool is full")
    (line,) = read()
    assert line.endswith("WARNING pool is full")


@pytest.mark.parametrize(("verbosity", "most"), [(4, 20), (5, 1000)])
def test_a_thousand_objects_do_not_make_a_thousand_lines(lines, verbosity, most) -> None:
    read = lines(verbosity=verbosity)
    for number in range(1500):
        LOG.error("pods %s is malformed and left out", f"default/web-{number}")
    LOG.error("something else")
    told = read()
    assert len(told) == most + 1
    assert told[-2].endswith(
        f"default/web-{most - 1} is malformed and left out; more lines like this are left out for 10 s"
    )


def test_decisions_are_all_told_and_refused_evictions_are_not(lines) -> None:
    read = lines()
    reports = DecisionEvents(NoEvents())
    restore = [Restore(node=f"n-{number}", verdict=Verdict(reason=Reason.LEFTOVER)) for number in range(100)]
    reports.acting(Decision(at=EPOCH, restore=tuple(restore)), Memory(), a_world(), Settings())
    assert len(read()) == 100
    refused = Outcome(at=EPOCH, action="evict", target="default/web", ok=False, temporary=True, error="budget")
    reports.acted((refused,) * 100)
    assert len(read()) == 20


def a_record(seconds):
    record = logging.makeLogRecord({"name": "x", "msg": "%s", "args": ("line",)})
    record.created = seconds
    return record


def test_after_ten_seconds_lines_come_again_with_how_many_did_not() -> None:
    quota = Quota(2)
    told = [quota.admit(a_record(seconds)) for seconds in (100, 101, 102, 103, 111)]
    assert [record.getMessage() if record else None for record in told] == [
        "line",
        "line; more lines like this are left out for 10 s",
        None,
        None,
        "line; 2 lines like this were left out before",
    ]


def test_what_is_said_of_lines_left_out_is_not_said_to_other_handlers() -> None:
    record = a_record(100)
    noted = Quota(1).admit(record)
    assert noted.getMessage() != record.getMessage() == "line"


def test_a_clock_that_is_set_back_silences_nothing() -> None:
    quota = Quota(1)
    assert [bool(quota.admit(a_record(seconds))) for seconds in (100, 101, 50)] == [True, False, True]


def test_the_lines_of_one_plugin_leave_out_none_of_another() -> None:
    quota = Quota(1)

    def line(plugin):
        record = logging.makeLogRecord(
            {"name": "nodewright.plugins.faults", "msg": "plugin %s failed", "args": (plugin,)}
        )
        record.plugin, record.where = plugin, "best"
        return record

    assert [quota.admit(line(plugin)) is not None for plugin in ("a", "a", "b")] == [True, False, True]
