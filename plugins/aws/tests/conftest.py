"""One AWS for all tests of a process, emptied before each."""

from functools import cache

import pytest
from botocore.loaders import JSONFileLoader
from nodewright.testing.clock import SteppedClock
from nodewright_aws.testing import AwsDouble


@pytest.fixture(scope="session")
def _double():
    with AwsDouble(clock=SteppedClock()) as double, pytest.MonkeyPatch.context() as patch:
        # The SDK reads megabytes of JSON for every session, and tests make a session each.
        read = cache(JSONFileLoader().load_file)
        patch.setattr(JSONFileLoader, "load_file", lambda self, path: read(path))
        yield double


@pytest.fixture
def double(_double, monkeypatch):
    """An empty account of AWS on a stepped clock; the SDK finds credentials for it and for nothing else."""
    _double.reset()
    for name, value in _double.environment.items():
        monkeypatch.setenv(name, value)
    return _double
