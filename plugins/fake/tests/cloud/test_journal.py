"""What is remembered of what happened in the cloud."""

import pytest
from nodewright.testing.clock import SteppedClock
from nodewright_fake.cloud import journal as journals
from nodewright_fake.cloud.journal import Journal


@pytest.fixture
def journal(monkeypatch):
    """A journal that remembers three entries."""
    monkeypatch.setattr(journals, "_REMEMBERED", 3)
    return Journal(SteppedClock())


def test_a_reader_gets_what_is_new(journal) -> None:
    journal.note("ordered", "a")
    read = journal.written
    assert journal.since(read) == ()
    journal.note("running", "a")
    journal.note("gone", "a")
    assert [entry.event for entry in journal.since(read)] == ["running", "gone"]


def test_a_reader_goes_on_when_old_entries_were_forgotten(journal) -> None:
    for number in range(5):
        journal.note("ordered", f"g{number}")
    assert [entry.group for entry in journal.since(1)] == ["g2", "g3", "g4"]
    assert [entry.group for entry in journal.since(4)] == ["g4"]
    assert journal.since(5) == ()
