"""Tables in plain text."""

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import TextIO

from nodewright.cli.style import Style

#: Words are broken before a column gets narrower than this.
NARROWEST = 12
#: In a pipe, a cell that is longer than this takes its room alone: the cells above and below are not padded to it.
_LONG = 60

Row = Sequence[str]


def screen_width(stream: TextIO | None = None) -> int | None:
    """Return the width of the terminal; None if *stream* is none, so that ``grep`` and ``awk`` get whole lines.

    *stream* is standard output unless it is given.
    """
    return shutil.get_terminal_size().columns if (stream or sys.stdout).isatty() else None


def folded(text: str, width: int | None) -> str:
    """Return *text* with its lines wrapped between words to *width*, if there is one; what follows is indented."""
    if width is None:
        return text
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False, drop_whitespace=True
    )


def aligned(
    rows: Sequence[Row],
    *,
    width: int | None = None,
    drop: Sequence[int] = (),
    header: bool = False,
    styles: Mapping[str, Style] | None = None,
) -> str:
    """Return *rows* in columns, two spaces apart.

    With a *width*, cells are wrapped between words to fit. Where words are too long for that, the columns *drop* (by
    number) are left out one after the other, and words are broken last of all. *header* says that the first row is one;
    *styles* is how cells look, by their text.
    """
    if not rows:
        return ""
    kept = _kept(rows, width, drop)
    rows = [[row[column] for column in kept] for row in rows]
    sizes = _sizes(rows, width)
    looks = dict(styles or {})
    lines = []
    for number, row in enumerate(rows):
        of_row = dict.fromkeys(row, Style.BOLD) if header and not number else looks
        parts = [_wrapped(cell, size) if width else [cell] for cell, size in zip(row, sizes, strict=True)]
        looks_of_row = [of_row.get(cell) for cell in row]
        lines += [_line(cells, sizes, looks_of_row) for cells in zip_longest(*parts, fillvalue="")]
    return "\n".join(lines)


def _line(cells: Row, sizes: Sequence[int], looks: Sequence[Style | None]) -> str:
    padded = [f"{cell:<{size}}" for cell, size in zip(cells, sizes, strict=True)]
    last = max((number for number, cell in enumerate(cells) if cell), default=-1)
    shown = [cell.rstrip() if number == last else cell for number, cell in enumerate(padded[: last + 1])]
    return "  ".join(look.on(cell) if look else cell for cell, look in zip(shown, looks, strict=False))


def _kept(rows: Sequence[Row], width: int | None, drop: Sequence[int]) -> list[int]:
    """Return the columns that are shown: those of *drop* go until the longest words fit into *width*."""
    columns = list(range(len(rows[0])))
    for column in drop:
        if width is None or _span([_longest_word(rows, each) for each in columns]) <= width:
            break
        columns.remove(column)
    return columns


def _sizes(rows: Sequence[Row], width: int | None) -> list[int]:
    columns = range(len(rows[0]))
    if width is None:
        return [max((len(row[each]) for row in rows if len(row[each]) <= _LONG), default=0) for each in columns]
    widest = [max(len(row[each]) for row in rows) for each in columns]
    words = [min(_longest_word(rows, each), widest[each]) for each in columns]
    return _squeezed(_squeezed(widest, words, width), [min(NARROWEST, each) for each in words], width)


def _squeezed(sizes: Sequence[int], least: Sequence[int], width: int) -> list[int]:
    """Return *sizes* that fit into *width* if possible: the widest column that is above its *least* gives first."""
    squeezed = list(sizes)
    while _span(squeezed) > width:
        able = [column for column, size in enumerate(squeezed) if size > least[column]]
        if not able:
            break
        squeezed[max(able, key=lambda column: (squeezed[column], column))] -= 1
    return squeezed


def _span(sizes: Sequence[int]) -> int:
    return sum(sizes) + 2 * (len(sizes) - 1)


def _longest_word(rows: Sequence[Row], column: int) -> int:
    return max(len(word) for row in rows for word in row[column].split(" "))


def _wrapped(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    # Names of packages and nodes stay on one line where they can, so that they can be copied.
    too_long = max(map(len, text.split())) > width
    return textwrap.wrap(text, width, break_on_hyphens=too_long)
