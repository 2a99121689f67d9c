"""Runs one suite on one subject, in a pytest run of its own."""

import os
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[5]
_OPTIONS = ("-c", os.devnull, "--rootdir", str(_ROOT), "--import-mode=importlib")
#: What this needs not, and what has been set up for the run that this is part of.
_WITHOUT = ("terminal", "cacheprovider", "xdist", "_cov", "timeout")


class UnderTest:
    """Hands the subject to the suite, and keeps what came of each test."""

    def __init__(self, make):
        self.failed = {}
        self._make = make

    @pytest.fixture
    def subject(self):
        """A new one for each test."""
        return self._make()

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.failed[report.nodeid.rpartition("::")[2]] = report.longreprtext


def failures(module, suite, make):
    """The tests of the class *suite* in *module* that fail with what *make* makes, and how."""
    under_test = UnderTest(make)
    words = [*_OPTIONS, *(f"-pno:{name}" for name in _WITHOUT), f"{module}::{suite}"]
    status = pytest.main(words, plugins=[under_test])
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED), status
    return under_test.failed
