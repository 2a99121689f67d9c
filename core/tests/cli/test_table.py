"""Tables that people read on a terminal and programs read from a pipe."""

from nodewright.cli.table import aligned

ROWS = [("NAME", "N", "WHY"), ("a-long-name", "1", "because it is as it is"), ("b", "22", "")]


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert aligned(ROWS).splitlines() == [
        "NAME         N   WHY",
        "a-long-name  1   because it is as it is",
        "b            22",
    ]


def test_the_last_column_is_wrapped_on_a_terminal() -> None:
    rows = [("NAME", "WHY"), ("b", "because it is as it is and nodewright-fake stays whole")]
    assert aligned(rows, width=32).splitlines() == [
        "NAME  WHY",
        "b     because it is as it is and",
        "      nodewright-fake stays",
        "      whole",
    ]


def test_a_narrow_terminal_leaves_some_room_for_the_last_column() -> None:
    assert aligned([("a" * 30, "one two three four five six")], width=20).splitlines() == [
        "a" * 30 + "  one two three four five",
        " " * 32 + "six",
    ]


def test_a_wide_column_in_the_middle_gives_once_the_last_has_given_all() -> None:
    rows = [("a", "one two three four five six seven", "here"), ("b", "eight", "there is no more")]
    assert aligned(rows, width=34).splitlines() == [
        "a  one two three four five   here",
        "   six seven",
        "b  eight                     there is no more",
    ]


def test_no_rows_make_no_table() -> None:
    assert aligned([]) == ""
