"""A clock, and a billing catalogue."""

import pytest
from nodewright.testing import SteppedClock

from .billing import RecordedCatalogue


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def google():
    return RecordedCatalogue()
