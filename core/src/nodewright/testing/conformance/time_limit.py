"""A time limit for tests whose plugin waits for something that does not come."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: After so many tests that did not end, the others are skipped: they would not end either.
_ENOUGH = 3
#: Seconds that pytest needs to report a test that was given up, and to tear it down.
_AFTERWARDS = 5.0
_GIVEN_UP = pytest.StashKey[int]()


@contextmanager
def time_limit(seconds: float, stash: pytest.Stash, advice: str) -> Iterator[None]:
    """Fail the test with *advice* if the ``with`` block takes longer; skip it if that happened in this run too often.

    Only works on the main thread, where signals exist, and only if no one else has set a timer.
    """
    if not seconds or threading.current_thread() is not threading.main_thread() or _timer_is_taken():
        yield
        return
    if stash.get(_GIVEN_UP, 0) >= _ENOUGH:
        pytest.skip(f"{_ENOUGH} tests did not end, and were given up after {seconds:g} s each")

    def give_up(*_: object) -> None:
        stash[_GIVEN_UP] = stash.get(_GIVEN_UP, 0) + 1
        pytest.fail(f"the test has not ended within {seconds:g} s {advice}")

    before = signal.signal(signal.SIGALRM, give_up)
    # A second alarm, in case the teardown of the test blocks as well.
    signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds, _AFTERWARDS))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _timer_is_taken() -> bool:
    return not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0] > 0
