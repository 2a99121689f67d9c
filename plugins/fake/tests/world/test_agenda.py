"""What will happen, and in which order."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.agenda import Agenda


@pytest.fixture
def clock():
    return SteppedClock()


@pytest.fixture
def agenda(clock):
    return Agenda(clock)


def test_entries_are_done_when_they_are_due_and_not_before(agenda, clock) -> None:
    done = []
    agenda.after(2, lambda: done.append("later"))
    agenda.after(1, lambda: done.append("sooner"))
    assert not agenda.run_due()
    clock.advance(1)
    assert agenda.run_due()
    assert done == ["sooner"]
    clock.advance(1)
    agenda.run_due()
    assert done == ["sooner", "later"]
    assert agenda.next_moment is None


def test_entries_of_one_moment_are_done_by_key_and_then_in_their_order(agenda) -> None:
    done = []
    for number, key in enumerate(["b", "a", "", "b", ""]):
        agenda.after(0, lambda entry=f"{key}{number}": done.append(entry), key=key)
    agenda.run_due()
    assert done == ["2", "4", "a1", "b0", "b3"]


def test_an_entry_may_put_down_another_one_that_is_due_at_once(agenda) -> None:
    done = []
    agenda.after(0, lambda: agenda.after(0, lambda: done.append("child")))
    agenda.run_due()
    assert done == ["child"]


def test_whoever_waits_for_entries_is_woken_by_a_new_one(agenda) -> None:
    assert not agenda.changed.is_set()
    agenda.after(5, lambda: None)
    assert agenda.changed.is_set()
