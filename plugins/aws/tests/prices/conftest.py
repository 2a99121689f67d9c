"""A clock, and an AWS that has answers ready."""

import pytest
from nodewright.testing import SteppedClock

from .recorded import RecordedAws


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def aws():
    return RecordedAws()
