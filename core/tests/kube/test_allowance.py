"""Requests are sent at once while there are few, and in a steady stream when there are many."""

import pytest
from nodewright.kube.allowance import Allowance


class Waits:
    """Seconds that pass only while somebody waits."""

    def __init__(self):
        self.now = 50.0
        self.made = []

    def wait(self, seconds):
        self.made.append(seconds)
        self.now += seconds

    def allowance(self, per_second, burst):
        return Allowance(per_second, burst, now=lambda: self.now, wait=self.wait)


@pytest.fixture
def waits():
    return Waits()


def test_a_burst_waits_for_nothing(waits):
    allowance = waits.allowance(2, 10)
    for _ in range(10):
        allowance.spend()
    assert waits.made == []


def test_what_is_above_it_comes_at_the_rate(waits):
    allowance = waits.allowance(2, 3)
    for _ in range(7):
        allowance.spend()
    assert waits.made == [0.5] * 4


def test_a_pause_gives_back_no_more_than_the_burst(waits):
    allowance = waits.allowance(2, 3)
    for _ in range(3):
        allowance.spend()
    waits.now += 1000
    for _ in range(4):
        allowance.spend()
    assert waits.made == [0.5]


def test_those_that_come_while_others_wait_wait_longer():
    made = []
    allowance = Allowance(2, 1, now=lambda: 0.0, wait=made.append)
    for _ in range(4):
        allowance.spend()
    assert made == [0.5, 1.0, 1.5]
