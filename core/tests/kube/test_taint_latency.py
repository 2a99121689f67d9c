"""How long it takes until a written taint is seen."""

from datetime import timedelta

from nodewright.api import Taint
from nodewright.kube.nodes import TaintLatency
from nodewright.testing.builders import a_node
from nodewright.testing.clock import SteppedClock

PLAIN = a_node("n")
MARKED = a_node("n", taints=[Taint(key="ToBeDeletedByClusterAutoscaler", value="0")])


def measured(clock, latency, seconds):
    latency.writing("n")
    clock.advance(seconds)
    latency.saw([PLAIN])
    latency.saw([MARKED])


def test_the_longest_of_the_past_hour_counts() -> None:
    clock = SteppedClock()
    latency = TaintLatency(clock)
    assert latency.longest is None
    measured(clock, latency, 3)
    measured(clock, latency, 1)
    assert latency.longest == timedelta(seconds=3)
    clock.advance(3600)
    assert latency.longest == timedelta(seconds=1)
    clock.advance(2)
    assert latency.longest is None


def test_taints_that_were_not_written_or_not_by_us_do_not_count() -> None:
    clock = SteppedClock()
    latency = TaintLatency(clock)
    latency.writing("n")
    latency.forget("n")
    latency.saw([MARKED])
    assert latency.longest is None


def test_a_mark_is_measured_once() -> None:
    clock = SteppedClock()
    latency = TaintLatency(clock)
    measured(clock, latency, 1)
    clock.advance(10)
    latency.saw([MARKED])
    assert latency.longest == timedelta(seconds=1)
