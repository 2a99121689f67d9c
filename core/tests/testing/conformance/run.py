"""Runs a suite on one subject, in this process and without anything that is not needed."""

from pathlib import Path

import pytest

_NOT_NEEDED = (
    "assertion cacheprovider faulthandler hypothesispytest junitxml logging pytest_cov terminal threadexception "
    "timeout unraisableexception warnings xdist"
)


class UnderTest:
    """The provider, or whatever the suite is about, of a run."""

    def __init__(self, subject):
        self.subject = subject


class Failures:
    """Messages by name of the test."""

    def __init__(self, subject):
        self.messages = {}
        self.passed = 0
        self._subject = subject

    def pytest_configure(self, config):
        config.pluginmanager.register(UnderTest(self._subject), "under-test")

    def pytest_runtest_logreport(self, report):
        if report.failed:
            name = report.nodeid.rpartition("::")[2].partition("[")[0]
            self.messages[name] = str(report.longrepr)
        self.passed += report.when == "call" and report.passed


def run(subject, where="reference.py"):
    """Return what the suite *where* says of *subject*: messages by name of the tests that failed."""
    failures = Failures(subject)
    without = [argument for name in _NOT_NEEDED.split() for argument in ("-p", f"no:{name}")]
    arguments = [str(Path(__file__).parent / where), "-s", "--override-ini=addopts=--import-mode=importlib"]
    pytest.main([*arguments, *without], plugins=[failures])
    assert failures.passed or failures.messages, "the suite was not run at all"
    return failures.messages
