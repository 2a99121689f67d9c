"""A few requests pass at once, many in a steady stream."""

import pytest
from nodewright.kube.rate_limiter import BlockingRateLimiter


class Waits:
    """Seconds that pass only while a caller waits."""

    def __init__(self):
        self.now = 50.0
        self.made = []

    def sleep(self, seconds):
        self.made.append(seconds)
        self.now += seconds

    def limiter(self, per_second, burst):
        return BlockingRateLimiter(per_second, burst, now=lambda: self.now, sleep=self.sleep)


@pytest.fixture
def waits():
    return Waits()


def test_a_burst_waits_for_nothing(waits) -> None:
    limiter = waits.limiter(2, 10)
    for _ in range(10):
        limiter.wait()
    assert waits.made == []


def test_what_is_above_it_comes_at_the_rate(waits) -> None:
    limiter = waits.limiter(2, 3)
    for _ in range(7):
        limiter.wait()
    assert waits.made == [0.5] * 4


def test_a_pause_gives_back_no_more_than_the_burst(waits) -> None:
    limiter = waits.limiter(2, 3)
    for _ in range(3):
        limiter.wait()
    waits.now += 1000
    for _ in range(4):
        limiter.wait()
    assert waits.made == [0.5]


def test_those_that_come_while_others_wait_wait_longer() -> None:
    made = []
    limiter = BlockingRateLimiter(2, 1, now=lambda: 0.0, sleep=made.append)
    for _ in range(4):
        limiter.wait()
    assert made == [0.5, 1.0, 1.5]
