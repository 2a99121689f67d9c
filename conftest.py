"""What holds for all tests."""

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _terminals_can_be_closed() -> Iterator[None]:
    """Let SIGHUP do what it does in a terminal: run by nohup, tests and all that they start would ignore it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
