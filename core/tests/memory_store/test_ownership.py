"""Only the process that took the store over last writes it."""

import logging
from dataclasses import replace
from datetime import timedelta

import pytest
from nodewright.api.errors import AccessDeniedError, ApiServerError, TemporaryError
from nodewright.decision.memory import Memory, OrderMemory, Removal, RemovalMemory, ScaleUpRequest, UnneededMemory
from nodewright.memory_store.envelope import Envelope, decode, encode
from nodewright.memory_store.ownership import Ownership, differ
from nodewright.testing.clock import EPOCH, SteppedClock

from core.tests.memory_store.memories import Shelf

FIRST, SECOND, THIRD = (
    Memory(unneeded=UnneededMemory(since={"n": EPOCH}), orders=OrderMemory(turn=number)) for number in (1, 2, 3)
)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr("nodewright.memory_store.ownership.sleep", lambda seconds: None)


class Process:
    """One process on a shelf."""

    def __init__(self, shelf, identity="me", clock=None, **fields):
        self.clock = clock or SteppedClock()
        self.told = []
        self.ownership = Ownership(shelf, self.clock, identity=identity, on_write=self.told.append, **fields)

    def take_over(self, timeout=10.0):
        return self.ownership.take_over(timeout)

    def write(self, memory):
        return self.ownership.write(memory, self.clock.now())


def stored(memory, *, holder="former", seen_at=EPOCH, cluster=""):
    return encode(Envelope(memory=memory, seen_at=seen_at, holder=holder, cluster=cluster), 10**9).content


def on(shelf):
    return decode(shelf.content).envelope


def fail(error):
    def raising():
        raise error

    return raising


def test_what_one_process_has_written_the_next_one_reads() -> None:
    shelf = Shelf()
    one = Process(shelf, "one")
    assert one.take_over() == Memory()
    assert one.write(FIRST)
    assert Process(shelf, "two").take_over() == FIRST


def test_a_process_that_was_succeeded_writes_nothing_more_and_says_so_once(caplog) -> None:
    shelf = Shelf()
    old, new = Process(shelf, "old"), Process(shelf, "new")
    old.take_over()
    old.write(FIRST)
    assert new.take_over() == FIRST
    assert not old.write(SECOND)
    assert not old.write(THIRD)
    assert old.ownership.superseded
    assert (on(shelf).memory, on(shelf).holder) == (FIRST, "new")
    assert new.write(THIRD)
    assert caplog.text.count("another autoscaler (new) has taken over the memory in the shelf") == 1


def test_a_process_that_writes_while_it_is_succeeded_is_read_by_its_successor() -> None:
    shelf = Shelf()
    old, new = Process(shelf, "old"), Process(shelf, "new")
    old.take_over()

    def meanwhile():
        shelf.before = lambda: None
        old.write(SECOND)

    shelf.before = meanwhile
    assert new.take_over() == SECOND
    assert not old.write(THIRD)
    assert new.write(FIRST)


def test_two_that_begin_at_the_same_time_with_nothing_there_do_not_both_write() -> None:
    shelf = Shelf()
    one, two = Process(shelf, "one"), Process(shelf, "two")
    one.take_over()
    two.take_over()
    assert (one.write(FIRST), two.write(SECOND)) == (False, True)


def test_writing_goes_on_after_a_lost_response() -> None:
    shelf = Shelf()
    process = Process(shelf)
    process.take_over()
    shelf.after = fail(ApiServerError("hung up"))
    assert not process.write(FIRST)
    shelf.after = lambda: None
    assert process.write(SECOND)
    assert on(shelf).memory == SECOND


def test_an_edit_or_deletion_is_not_taken_for_another_owner() -> None:
    shelf = Shelf()
    process = Process(shelf)
    process.take_over()
    process.write(FIRST)
    shelf.version += 1
    assert process.write(SECOND)
    shelf.content = b"nonsense"
    shelf.version += 1
    assert process.write(THIRD)
    shelf.content = None
    assert process.write(FIRST)
    assert on(shelf).memory == FIRST


def test_to_take_over_does_not_count_as_having_looked() -> None:
    shelf = Shelf(stored(FIRST))
    clock = SteppedClock()
    for _ in range(6):
        clock.advance(50)
        assert Process(shelf, clock=clock).take_over().unneeded.since
    clock.advance(50)
    assert not Process(shelf, clock=clock).take_over().unneeded.since


def test_after_a_long_absence_timers_start_again_and_the_log_says_so(caplog) -> None:
    clock = SteppedClock(EPOCH + timedelta(days=3))
    memory = Process(Shelf(stored(FIRST)), clock=clock).take_over()
    assert memory == Memory(orders=OrderMemory(turn=1))
    assert "no loop has run since 2030-01-01 00:00:00: timers, orders and removals start again" in caplog.text


def test_nothing_is_taken_for_true_that_is_still_to_come(caplog) -> None:
    shelf = Shelf(stored(FIRST, seen_at=EPOCH + timedelta(days=3650)))
    assert Process(shelf).take_over() == Memory(orders=OrderMemory(turn=1))
    assert "which is in the future: its times are dropped" in caplog.text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe", "it is no JSON object"),
        (b'{"format": 7, "memory": {}}', "it has format 7, and this version of Nodewright knows up to 2"),
        (stored(FIRST, cluster="elsewhere"), "it belongs to cluster elsewhere, and this is prod"),
    ],
    ids=("damaged", "too new", "of another cluster"),
)
def test_what_is_of_no_use_is_set_aside_and_reported(caplog, content, why) -> None:
    shelf = Shelf(content)
    process = Process(shelf, cluster="prod")
    assert process.take_over() == Memory()
    assert shelf.apart == [content]
    assert f"the one in the shelf is unusable: {why}" in caplog.text
    assert "It is set aside in the other shelf" in caplog.text
    assert process.write(FIRST)
    assert on(shelf).memory == FIRST


def test_a_newer_format_that_can_not_be_set_aside_is_never_written_over(caplog) -> None:
    content = b'{"format": 7, "memory": {}}'
    shelf = Shelf(content)
    shelf.set_aside = lambda content: fail(AccessDeniedError("no right to create configmaps"))()
    process = Process(shelf)
    assert process.take_over() == Memory()
    assert not process.write(FIRST)
    assert shelf.content == content
    assert "is not overwritten, and none is kept" in caplog.text


def test_damage_that_can_not_be_set_aside_is_reported_and_written_over(caplog) -> None:
    shelf = Shelf(b"nonsense")
    shelf.set_aside = lambda content: fail(AccessDeniedError("no right to create configmaps"))()
    process = Process(shelf)
    process.take_over()
    assert process.write(FIRST)
    assert "It can't be set aside in the other shelf: no right to create configmaps" in caplog.text
    assert "It is set aside" not in caplog.text


def test_items_that_can_not_be_read_are_counted_in_one_line(caplog) -> None:
    text = (
        b'{"format":1,"seenAt":"2030-01-01T00:00:00Z","memory":{"turn":1,"requests":{"a":5,"b":6},"backoffs":{"c":1}}}'
    )
    assert Process(Shelf(text)).take_over() == Memory(orders=OrderMemory(turn=1))
    assert [record.message for record in caplog.records] == [
        "parts of the memory in the shelf can't be understood and are dropped: health.backoffs 1, orders.requests 2"
    ]


def test_a_missing_right_is_named_once_and_hopeless_until_it_is_there(caplog) -> None:
    caplog.set_level(logging.INFO)
    shelf = Shelf()
    shelf.before = fail(AccessDeniedError("may not create configmaps", status=403))
    process = Process(shelf)
    assert process.take_over() == Memory()
    assert not process.write(FIRST)
    assert not process.write(SECOND)
    assert process.ownership.blocked
    assert [record.message for record in caplog.records] == [
        (
            "memory can't be written in the shelf, and timers, back-offs and open orders would not survive a restart: "
            "may not create configmaps."
        )
    ]
    shelf.before = lambda: None
    assert process.write(THIRD)
    assert not process.ownership.blocked
    assert caplog.records[-1].message == "memory is written to the shelf again"


def test_without_the_right_to_read_it_starts_without_memory_and_overwrites_nothing(caplog) -> None:
    shelf = Shelf(stored(FIRST))
    shelf.reading = fail(AccessDeniedError("may not get", status=403))
    process = Process(shelf)
    assert process.take_over() == Memory()
    assert not process.write(SECOND)
    assert on(shelf).memory == FIRST
    shelf.reading = lambda: None
    assert process.write(SECOND)
    assert caplog.text.count("can't be read in the shelf") == 1


def test_an_api_server_that_is_away_for_a_moment_is_waited_for() -> None:
    shelf, tries = Shelf(stored(FIRST)), []

    def reading():
        tries.append(1)
        if len(tries) < 5:
            raise ApiServerError("away", status=503)

    shelf.reading = reading
    assert Process(shelf).take_over() == FIRST


def test_it_does_not_begin_without_memory_because_the_api_server_is_away() -> None:
    shelf = Shelf(stored(FIRST))
    shelf.reading = fail(ApiServerError("away", status=503))
    with pytest.raises(ApiServerError, match="away"):
        Process(shelf).take_over(timeout=0.05)


def test_an_outage_and_its_end_are_logged_once(caplog) -> None:
    caplog.set_level(logging.INFO)
    shelf = Shelf()
    process = Process(shelf)
    process.take_over()
    shelf.before = fail(ApiServerError("PATCH: away", status=503))
    assert [process.write(memory) for memory in (FIRST, SECOND, THIRD)] == [False] * 3
    shelf.before = lambda: None
    assert process.write(THIRD)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert caplog.records[0].message.endswith("PATCH: away. It is tried again.")
    assert [(each.ok, each.size > 0) for each in process.told] == [(False, True)] * 3 + [(True, True)]


def test_other_trouble_than_an_absence_does_not_keep_a_file_from_beginning() -> None:
    shelf = Shelf()
    shelf.reading = fail(TemporaryError("file x can't be read: input/output error"))
    assert Process(shelf).take_over() == Memory()


def test_memory_that_does_not_fit_is_logged_once_with_what_is_left_out(caplog) -> None:
    shelf = Shelf()
    shelf.limit = 2_000
    process = Process(shelf)
    process.take_over()
    memory = Memory(
        unneeded=UnneededMemory(hints={f"node-{number}": (("n", 1),) for number in range(100)}),
        orders=OrderMemory(requests={"a": ScaleUpRequest(at=EPOCH, count=1)}),
        leaving=RemovalMemory(removals={"n": Removal(group="a", provider_id="i", started=EPOCH)}),
    )
    assert process.write(memory)
    process.clock.advance(61)
    assert process.write(memory)
    assert caplog.text.count("the shelf has no room for all of memory: stored without hints") == 1
    assert process.told[-1].shed == ("hints",)
    assert on(shelf).memory.orders.requests == memory.orders.requests
    shelf.limit = 100
    process.clock.advance(61)
    assert not process.write(memory)
    assert "bytes are more than the 100 that it takes" in caplog.text


def test_what_is_there_already_is_written_again_once_a_minute() -> None:
    process = Process(Shelf())
    process.take_over()
    process.write(FIRST)
    at = process.clock.now()
    assert process.ownership.is_stored(
        Memory(unneeded=UnneededMemory(since={"n": EPOCH}), orders=OrderMemory(turn=1)), at + timedelta(seconds=59)
    )
    assert not process.ownership.is_stored(FIRST, at + timedelta(seconds=60))
    assert not process.ownership.is_stored(SECOND, at)


def test_peeking_leaves_the_store_as_it_is() -> None:
    shelf = Shelf(stored(FIRST))
    assert Process(shelf).ownership.peek() == FIRST
    assert (shelf.writes, shelf.version) == (0, 1)
    assert Process(Shelf(b"nonsense")).ownership.peek() == Memory()
    assert Process(Shelf()).ownership.peek() == Memory()


class Unlike:
    """Must not be compared."""

    __hash__ = None

    def __eq__(self, other):
        raise AssertionError("compared, though it is the same")


def test_what_was_carried_over_is_not_compared() -> None:
    same = Unlike()
    assert not differ(Memory(orders=OrderMemory(requests=same)), Memory(orders=OrderMemory(requests=same)))
    assert differ(Memory(orders=OrderMemory(requests=same, turn=1)), Memory(orders=OrderMemory(requests=same)))


def test_what_any_loop_finds_again_is_written_once_a_minute_or_with_something_else() -> None:
    shelf = Shelf()
    process = Process(shelf)
    process.take_over()
    process.write(FIRST)
    known = replace(FIRST, unneeded=replace(FIRST.unneeded, hints={"n": (("m", 1),)}, unremovable_until={"m": EPOCH}))
    at = process.clock.now()
    assert process.ownership.is_stored(known, at + timedelta(seconds=59))
    assert not process.ownership.is_stored(known, at + timedelta(seconds=60))
    process.write(replace(known, orders=OrderMemory(turn=2)))
    assert on(shelf).memory.unneeded.hints == known.unneeded.hints
