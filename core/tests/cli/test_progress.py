"""Progress: how far a long command is."""

import io
import sys
from time import monotonic

import pytest
from nodewright.cli import progress
from nodewright.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    monkeypatch.setattr(progress, "_TICK_SECONDS", 0.01)


def shown(stream, text):
    until = monotonic() + 5
    while text not in stream.getvalue():
        assert monotonic() < until, stream.getvalue()
    return True


@pytest.mark.parametrize(
    ("total", "steps", "after", "expected"),
    [
        (0, 0, 3, "reading: 3 s"),
        (0, 1200, 3, "reading: 3 s, 1,200 done"),
        (10, 0, 3, "reading: 0 of 10"),
        (2000, 1000, 300, "reading: 1,000 of 2,000, about 5 min left"),
        (10, 5, 3, "reading: 5 of 10, less than a minute left"),
    ],
)
def test_it_says_how_far_it_is_and_how_long_it_will_take(total, steps, after, expected) -> None:
    told = Progress("", total=0)
    told.now("reading", total=total)
    for _ in range(steps):
        told.step()
    assert told.told(told._began + after) == expected


def test_a_terminal_shows_it_while_it_lasts_and_answers_take_its_place(at_once, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("reading") as told:
        assert shown(terminal, "\r\x1b[Kreading: 0 s")
        told.print("an answer")
    assert terminal.getvalue().endswith("\r\x1b[K")
    assert capsys.readouterr().out == "an answer\n"


def test_nothing_is_shown_of_what_is_done_soon(monkeypatch) -> None:
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with Progress("reading"):
        pass
    assert "reading" not in terminal.getvalue()


def test_logs_get_no_progress(at_once, capsys) -> None:
    with Progress("reading") as told:
        told.print("an answer")
    assert capsys.readouterr() == ("an answer\n", "")
