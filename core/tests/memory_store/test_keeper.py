"""The thread that writes memory: not too often, but at once where it matters."""

from contextlib import contextmanager
from datetime import timedelta
from threading import Event
from time import monotonic, sleep

import pytest
from nodewright.api.errors import AccessDeniedError, ApiServerError
from nodewright.decision.memory import Memory, OrderMemory
from nodewright.memory_store.envelope import decode
from nodewright.memory_store.keeper import MemoryKeeper
from nodewright.memory_store.ownership import Ownership
from nodewright.testing.clock import SteppedClock

from core.tests.memory_store.memories import Shelf

INTERVAL = timedelta(seconds=10)


class Kept:
    """A keeper with its shelf and clock."""

    def __init__(self):
        self.clock = SteppedClock()
        self.shelf = Shelf()
        self.keeper = MemoryKeeper(Ownership(self.shelf, self.clock, identity="me"), self.clock, interval=INTERVAL)
        self.keeper.load()
        self.shelf.writes = 0

    @property
    def turn(self):
        """The number of the stored memory."""
        return decode(self.shelf.content).envelope.memory.orders.turn

    def keep(self, turn):
        self.keeper.keep(Memory(orders=OrderMemory(turn=turn)))

    def keep_now(self, turn, timeout=10.0):
        return self.keeper.keep_now(Memory(orders=OrderMemory(turn=turn)), timeout)


@pytest.fixture
def kept():
    kept = Kept()
    yield kept
    kept.keeper.close()


@contextmanager
def writes_hang(shelf):
    """Each write takes until the end of the block."""
    hanging, over = Event(), Event()

    def hang():
        hanging.set()
        assert over.wait(10)

    shelf.before = hang
    yield hanging
    shelf.before = lambda: None
    over.set()


def eventually(holds):
    until = monotonic() + 10
    while not holds():
        assert monotonic() < until, "it never came to that"
        sleep(0.005)


def test_memory_is_written_while_the_loop_goes_on(kept) -> None:
    with writes_hang(kept.shelf) as hanging:
        kept.keep(1)
        assert hanging.wait(10)
        kept.keep(2)
    eventually(lambda: kept.turn == 1)


def test_it_is_written_once_in_an_interval_and_then_the_latest(kept) -> None:
    kept.keep(1)
    eventually(lambda: kept.turn == 1)
    for turn in (2, 3, 4):
        kept.keep(turn)
    kept.clock.advance(9)
    assert kept.turn == 1
    kept.clock.advance(1)
    eventually(lambda: kept.turn == 4)
    assert kept.shelf.writes == 2


def test_what_has_not_changed_is_not_written_and_delays_nothing(kept) -> None:
    assert kept.keep_now(1)
    kept.clock.advance(10)
    assert kept.keep_now(1)
    assert kept.shelf.writes == 1
    kept.keep(2)
    eventually(lambda: kept.turn == 2)


def test_what_must_not_be_forgotten_is_written_at_once(kept) -> None:
    assert kept.keep_now(1)
    assert kept.keep_now(2)
    assert kept.turn == 2


def test_a_write_that_hangs_is_waited_for_once(kept) -> None:
    with writes_hang(kept.shelf):
        assert not kept.keep_now(1, timeout=0.05)
        began = monotonic()
        assert not kept.keep_now(2, timeout=10)
        assert monotonic() - began < 5
    eventually(lambda: kept.turn == 2)
    assert kept.keep_now(3)


def test_a_write_that_fails_is_not_waited_for_and_tried_again(kept) -> None:
    def fail():
        raise ApiServerError("away", status=503)

    kept.shelf.before = fail
    assert not kept.keep_now(1)
    kept.shelf.before = lambda: None
    kept.clock.advance(10)
    eventually(lambda: kept.turn == 1)


def test_where_a_right_is_missing_it_is_tried_every_five_minutes(kept) -> None:
    tries = []

    def fail():
        tries.append(kept.clock.now())
        raise AccessDeniedError("may not patch", status=403)

    kept.shelf.before = fail
    assert not kept.keep_now(1)
    for _ in range(30):
        kept.clock.advance(10)
        kept.keep(2)
    eventually(lambda: len(tries) == 2)
    assert tries[1] - tries[0] == timedelta(minutes=5)


def test_a_clock_that_is_set_back_holds_nothing_up(kept) -> None:
    assert kept.keep_now(1)
    kept.clock.advance(-3600)
    kept.keep(2)
    eventually(lambda: kept.turn == 2)


def test_the_end_writes_what_is_left(kept) -> None:
    kept.keep(1)
    kept.keep(2)
    assert kept.keeper.close()
    assert kept.turn == 2
    kept.keep(3)
    assert not kept.keep_now(3)
    assert kept.turn == 2


def test_the_end_does_not_wait_for_a_store_that_hangs(kept) -> None:
    with writes_hang(kept.shelf):
        kept.keep(1)
        assert not kept.keeper.close(timeout=0.05)


def test_a_fault_of_ours_ends_no_thread(kept, caplog) -> None:
    def fail():
        raise ZeroDivisionError

    kept.shelf.before = fail
    assert not kept.keep_now(1)
    kept.shelf.before = lambda: None
    assert kept.keep_now(2)
    assert "memory could not be written" in caplog.text


def test_a_process_that_was_succeeded_does_not_wait_for_its_store(kept) -> None:
    assert kept.keep_now(1)
    other = MemoryKeeper(Ownership(kept.shelf, kept.clock, identity="other"), kept.clock, interval=INTERVAL)
    assert other.load() == Memory(orders=OrderMemory(turn=1))
    assert not kept.keep_now(2)
    assert kept.keeper.superseded
    assert not kept.keep_now(3)
    assert other.keep_now(Memory(orders=OrderMemory(turn=4)))
    other.close()


def test_without_a_store_nothing_is_kept() -> None:
    keeper = MemoryKeeper(None, SteppedClock(), interval=INTERVAL)
    assert keeper.load() == keeper.peek() == Memory()
    keeper.keep(Memory(orders=OrderMemory(turn=1)))
    assert not keeper.keep_now(Memory(orders=OrderMemory(turn=1)))
    assert keeper.close()
