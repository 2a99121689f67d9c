"""What holds for all tests."""

import logging
import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _terminals_can_be_closed() -> Iterator[None]:
    """Let SIGHUP do what it does in a terminal: run by nohup, tests and all that they start would ignore it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture(autouse=True)
def _logging_is_left_as_it_was() -> Iterator[None]:
    """Take back what a command that a test ran did to logging: the next test wants its own."""
    ours, root = logging.getLogger("nodewright"), logging.getLogger()
    before = ours.handlers[:], ours.level, ours.propagate, root.handlers[:]
    yield
    ours.handlers[:], ours.propagate = before[0], before[2]
    ours.setLevel(before[1])
    root.handlers[:] = [each for each in root.handlers if each in before[3]]
