"""One Google Cloud for all tests of a process, emptied before each."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_gce.testing import GceDouble


@pytest.fixture(scope="session")
def _double():
    with GceDouble(SteppedClock()) as double, pytest.MonkeyPatch.context() as patch:
        # google-auth reads the variable as it is imported.
        host = double.environment["GCE_METADATA_HOST"]
        patch.setattr("google.auth.compute_engine._metadata._GCE_METADATA_HOST", host)
        yield double


@pytest.fixture
def double(_double, monkeypatch):
    """An empty project of Google Cloud on a stepped clock; google-auth finds credentials for it and nothing else."""
    _double.reset()
    monkeypatch.delenv("GOOGLE_APPLICATION_CREDENTIALS", raising=False)
    for name, value in _double.environment.items():
        monkeypatch.setenv(name, value)
    return _double
