"""Tables in plain text."""

import shutil
import sys
import textwrap
from collections.abc import Sequence
from itertools import zip_longest

#: No column gets narrower than this.
NARROWEST = 24


def screen_width() -> int | None:
    """Return the width of the terminal; None if stdout is no terminal, so that ``grep`` and ``awk`` get whole lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def aligned(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Return *rows* in columns, two spaces apart. With a *width*, all columns but the first are wrapped to fit."""
    if not rows:
        return ""
    sizes = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    if width:
        sizes = _squeezed(sizes, width)
    lines = []
    for row in rows:
        parts = [_wrapped(cell, size) for cell, size in zip(row, sizes, strict=True)]
        lines += [_line(cells, sizes) for cells in zip_longest(*parts, fillvalue="")]
    return "\n".join(lines)


def _line(cells: Sequence[str], sizes: Sequence[int]) -> str:
    return "  ".join(f"{cell:<{size}}" for cell, size in zip(cells, sizes, strict=True)).rstrip()


def _squeezed(sizes: Sequence[int], width: int) -> list[int]:
    """Return *sizes* that fit into *width* if possible. The last column gets narrower first."""
    squeezed = list(sizes)
    for at in range(len(sizes) - 1, 0, -1):
        excess = sum(squeezed) + 2 * (len(squeezed) - 1) - width
        squeezed[at] = min(squeezed[at], max(NARROWEST, squeezed[at] - excess))
    return squeezed


def _wrapped(text: str, width: int) -> list[str]:
    if len(text) <= width:
        return [text]
    # Names of packages and modules stay on one line, so that they can be copied.
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
