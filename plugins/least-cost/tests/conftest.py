"""A clock for time limits."""

from time import monotonic

import pytest


@pytest.fixture
def wall_clock():
    """Begins to count seconds of wall time."""

    def begin():
        began = monotonic()
        return lambda: monotonic() - began

    return begin
