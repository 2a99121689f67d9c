"""The log, and how warnings get into it."""

import logging
from datetime import timedelta

from nodewright.testing import EPOCH, SteppedClock
from nodewright_fake.demo.log import LineKind, Log, Warnings


def test_lines_come_in_order_of_time_and_the_world_before_decisions_on_it() -> None:
    log = Log(SteppedClock())
    log.tell(LineKind.GROW, "decided")
    log.tell(LineKind.STORY, "told")
    log.tell(LineKind.NODE, "earlier", at=EPOCH - timedelta(seconds=1))
    assert [line.text for line in log.after(0)] == ["earlier", "told", "decided"]
    assert [line.text for line in log.after(2)] == ["earlier"]


def test_the_latest_lines_can_be_had_without_a_kind() -> None:
    log = Log(SteppedClock())
    for number in range(5):
        log.tell(LineKind.GROW, f"grow {number}")
        log.tell(LineKind.NODE, f"node {number}")
    assert [line.text for line in log.latest(2, without=LineKind.NODE)] == ["grow 3", "grow 4"]


def test_warnings_become_lines_of_trouble_and_lesser_messages_do_not() -> None:
    log = Log(SteppedClock())
    logger = logging.getLogger("nodewright_fake.test_log")
    handler = Warnings(log)
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        logger.info("all is well")
        logger.warning("%s is on fire\nTraceback", "the server")
    finally:
        logger.removeHandler(handler)
    (line,) = log.after(0)
    assert (line.at, line.kind, line.text) == (EPOCH, LineKind.TROUBLE, "the server is on fire")
