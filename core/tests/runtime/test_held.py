"""A group that may have taken an order is held until its provider was read after the call has ended."""

import pytest
from nodewright.decision.execution import Hold
from nodewright.runtime.held import HeldGroups

LATE = Hold(why="no answer", size=3)
DOUBTFUL = Hold(why="connection lost", size=2)


@pytest.fixture
def held():
    return HeldGroups()


def test_a_late_call_holds_its_group_whatever_is_read_meanwhile(held) -> None:
    held.begin("a", LATE)
    held.read(frozenset())
    assert held.all == held.under_way == {"a": LATE}


def test_after_a_late_call_the_group_is_held_until_its_provider_was_read(held) -> None:
    held.begin("a", LATE)
    held.end("a")
    assert (held.under_way, held.all) == ({}, {"a": LATE})
    held.read(frozenset({"a"}))
    assert held.all == {"a": LATE}
    held.read(frozenset())
    assert held.all == {}


def test_a_doubtful_order_holds_its_group_until_its_provider_was_read(held) -> None:
    held.doubt({"a": DOUBTFUL, "b": DOUBTFUL})
    held.read(frozenset({"b"}))
    assert held.all == {"b": DOUBTFUL}


def test_the_first_late_call_counts(held) -> None:
    held.begin("a", LATE)
    held.begin("a", DOUBTFUL)
    assert held.all == {"a": LATE}


def test_the_end_of_a_call_that_held_nothing_holds_nothing(held) -> None:
    held.end("node n-1")
    assert held.all == {}
