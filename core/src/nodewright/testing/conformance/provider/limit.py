"""An end for tests whose provider waits for something that does not come."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

#: So many tests are waited for in vain; what comes after them would be no different.
_ENOUGH = 3
#: Seconds in which pytest has written down that a test was given up, and closes what it has left.
_AFTERWARDS = 5.0
_GIVEN_UP = pytest.StashKey[int]()


@contextmanager
def time_limit(seconds: float, stash: pytest.Stash) -> Iterator[None]:
    """Fail the test if what is inside takes longer; skip it if that has happened to others of the run too often.

    Works on the main thread, where there are signals, and unless somebody else has set a timer: nothing happens else.
    """
    if not seconds or threading.current_thread() is not threading.main_thread() or _timer_is_taken():
        yield
        return
    if stash.get(_GIVEN_UP, 0) >= _ENOUGH:
        pytest.skip(f"{_ENOUGH} tests did not end, and were given up after {seconds:g} s each")

    def give_up(*_: object) -> None:
        stash[_GIVEN_UP] = stash.get(_GIVEN_UP, 0) + 1
        pytest.fail(
            f"the test has not ended within {seconds:g} s (`Cloud.longest`): the provider waits for something that "
            "does not come, in the line where this was raised; give every call of the cloud a deadline"
        )

    before = signal.signal(signal.SIGALRM, give_up)
    # Once more, should the end of the test block as well.
    signal.setitimer(signal.ITIMER_REAL, seconds, max(seconds, _AFTERWARDS))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _timer_is_taken() -> bool:
    return not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0] > 0
