"""Tables that people read on a terminal and programs read from a pipe."""

import pytest
from nodewright.cli.style import Style
from nodewright.cli.table import aligned, folded

ROWS = [("NAME", "N", "WHY"), ("a-long-name", "1", "because it is as it is"), ("b", "22", "")]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned(ROWS).splitlines() == [
        "NAME         N   WHY",
        "a-long-name  1   because it is as it is",
        "b            22",
    ]


def test_in_a_pipe_a_very_long_cell_does_not_pad_the_others() -> None:
    assert aligned([("NAME", "VALUE", "ORIGIN"), ("a", "x" * 70, "file"), ("b", "1", "default")]).splitlines() == [
        "NAME  VALUE  ORIGIN",
        f"a     {'x' * 70}  file",
        "b     1      default",
    ]


def test_cells_are_wrapped_between_words_on_a_terminal() -> None:
    rows = [("NAME", "WHY"), ("b", "because it is as it is and nodewright-fake stays whole")]
    assert aligned(rows, width=32).splitlines() == [
        "NAME  WHY",
        "b     because it is as it is and",
        "      nodewright-fake stays",
        "      whole",
    ]


def test_the_widest_column_gives_first() -> None:
    rows = [("a", "one two three four five six seven", "here"), ("b", "eight", "there is no more")]
    assert aligned(rows, width=34).splitlines() == [
        "a  one two three    here",
        "   four five six",
        "   seven",
        "b  eight            there is no",
        "                    more",
    ]


def test_columns_that_a_narrow_terminal_can_do_without_are_left_out_before_words_are_broken() -> None:
    rows = [("NAME", "GROUP", "AGE"), ("node-" + "n" * 20, "group-" + "g" * 10, "1h")]
    assert aligned(rows, width=48, drop=(1, 2)).splitlines()[0].split() == ["NAME", "GROUP", "AGE"]
    assert aligned(rows, width=40, drop=(1, 2)).splitlines()[0].split() == ["NAME", "AGE"]
    assert aligned(rows, width=25, drop=(1, 2)).splitlines() == ["NAME", rows[1][0]]


@pytest.mark.parametrize("width", [40, 50, 80])
def test_no_line_is_wider_than_the_terminal_however_long_the_words_are(width) -> None:
    rows = [("NAME", "WHY", "MORE"), ("n" * 50, "w" * 90 + " and words", "m")]
    assert max(map(len, aligned(rows, width=width).splitlines())) <= width


def test_headers_and_states_have_colours_only_where_they_are_wanted(monkeypatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = [("STATE", "NAME"), ("ready", "a")]
    assert aligned(rows, header=True, styles={"ready": Style.GREEN}).splitlines() == [
        "\x1b[1mSTATE\x1b[0m  \x1b[1mNAME\x1b[0m",
        "\x1b[32mready\x1b[0m  a",
    ]
    monkeypatch.setenv("NO_COLOR", "1")
    assert aligned(rows, header=True) == "STATE  NAME\nready  a"


def test_no_rows_make_no_table() -> None:
    assert aligned([]) == ""


def test_lines_are_folded_between_words_and_indented_where_they_go_on() -> None:
    assert folded("head\n  stays: it is as it is and nodewright-fake", 24) == (
        "head\n  stays: it is as it is\n      and\n      nodewright-fake"
    )
    assert folded("a very long line " * 10, None) == "a very long line " * 10


def test_a_name_that_is_too_long_is_broken_at_a_dash() -> None:
    assert aligned([("n", "a production-general-purpose-pool b")], width=25).splitlines() == [
        "n  a production-general-",
        "   purpose-pool b",
    ]
