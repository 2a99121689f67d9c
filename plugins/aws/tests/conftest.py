"""One AWS for all tests of a process, emptied before each."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_aws.testing import AwsDouble


@pytest.fixture(scope="session")
def _double():
    with AwsDouble(clock=SteppedClock()) as double:
        yield double


@pytest.fixture
def double(_double, monkeypatch):
    """An empty account of AWS on a stepped clock; the SDK finds credentials for it and for nothing else."""
    _double.reset()
    for name, value in _double.environment.items():
        monkeypatch.setenv(name, value)
    return _double
