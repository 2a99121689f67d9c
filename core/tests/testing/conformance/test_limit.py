"""A provider that waits for ever does not hold up the suite for ever."""

import signal
from threading import Event

import pytest

from .provider import ShedGroup, ShedProvider
from .run import run


@pytest.fixture(autouse=True)
def _no_other_timer():
    """Whoever has set a timer, such as pytest-timeout, is relied upon by the suite; here nobody has."""
    before = signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.setitimer(signal.ITIMER_REAL, *before)


class Endless(ShedGroup):
    def increase(self, count):
        Event().wait()


class EndlessShed(ShedProvider):
    group_class = Endless
    longest = 0.2


def test_a_provider_that_waits_for_ever_is_given_up_and_told() -> None:
    messages = run(EndlessShed)
    assert len(messages) == 3
    assert all("the test has not ended within 0.2 s" in message for message in messages.values())


def test_a_hook_that_waits_for_ever_is_given_up_and_told() -> None:
    messages = run(None, "strategies/endless.py")
    assert len(messages) == 3
    assert all("the hook waits for something that does not come" in message for message in messages.values())
