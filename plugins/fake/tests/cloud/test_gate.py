"""Which calls of the API are let through."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.cloud.api_fault import ApiFault, ApiFaultKind
from nodewright_fake.cloud.gate import Gate


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def gate(clock):
    return Gate(clock)


def codes(gate, operation, calls):
    """Code of the refusal of each call, or ok."""
    refusals = [gate.admit(operation)[1] for _ in range(calls)]
    return [refusal.code if refusal else "ok" for refusal in refusals]


def test_every_nth_call_is_throttled(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.THROTTLED, every=3, retry_after=7))
    assert codes(gate, "snapshot", 6) == ["ok", "ok", "THROTTLED", "ok", "ok", "THROTTLED"]


def test_throttling_says_when_to_come_back(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.THROTTLED, retry_after=7))
    refusal = gate.admit("snapshot")[1]
    assert (refusal.status, refusal.retry_after) == (429, 7)


def test_calls_above_a_rate_are_throttled(gate, clock) -> None:
    gate.add(ApiFault(ApiFaultKind.THROTTLED, per_second=2))
    assert codes(gate, "snapshot", 3) == ["ok", "ok", "THROTTLED"]
    clock.advance(0.5)
    assert codes(gate, "snapshot", 2) == ["ok", "THROTTLED"]
    clock.advance(60)
    assert codes(gate, "snapshot", 3) == ["ok", "ok", "THROTTLED"]


def test_a_fault_befalls_the_operations_that_it_names(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.DENIED, operations="delete-*"))
    assert codes(gate, "delete-instances", 1) == ["ACCESS_DENIED"]
    assert codes(gate, "increase", 1) == ["ok"]


def test_a_fault_can_happen_so_often_and_no_more(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.UNAVAILABLE, times=2))
    assert codes(gate, "increase", 3) == ["UNAVAILABLE", "UNAVAILABLE", "ok"]


def test_a_slow_call_is_answered_late_but_answered(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.SLOW, latency=0.2))
    gate.add(ApiFault(ApiFaultKind.SLOW, latency=0.3, every=2))
    assert gate.admit("increase") == (0.2, None)
    assert gate.admit("increase") == (0.5, None)


def test_healing_ends_the_faults_that_a_pattern_covers(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.INTERNAL, operations="increase"))
    gate.add(ApiFault(ApiFaultKind.INTERNAL, operations="snapshot"))
    gate.heal("incr*")
    assert codes(gate, "increase", 1) == ["ok"]
    assert codes(gate, "snapshot", 1) == ["INTERNAL"]


def test_calls_and_refusals_are_counted(gate) -> None:
    gate.add(ApiFault(ApiFaultKind.INTERNAL, operations="increase", every=2))
    codes(gate, "increase", 3)
    codes(gate, "snapshot", 1)
    assert gate.calls == {"increase": 3, "snapshot": 1}
    assert gate.refused == {"increase": 1}
