"""Tables in plain text."""

import shutil
import sys
import textwrap
from collections.abc import Sequence

#: The last column is not squeezed below this.
NARROWEST = 24


def screen_width() -> int | None:
    """Columns of the terminal that stdout is; None if it is none, so that ``grep`` and ``awk`` get whole lines."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def aligned(rows: Sequence[Sequence[str]], *, width: int | None = None) -> str:
    """Return *rows* in columns two spaces apart; with a *width*, the last column is wrapped to stay within it."""
    if not rows:
        return ""
    sizes = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)][:-1]
    indent = sum(sizes) + 2 * len(sizes)
    lines = []
    for *cells, last in rows:
        start = "".join(f"{cell:<{size}}  " for cell, size in zip(cells, sizes, strict=True))
        parts = _wrapped(last, max(NARROWEST, width - indent)) if width else [last]
        lines.append((start + (parts[0] if parts else "")).rstrip())
        lines += [" " * indent + part for part in parts[1:]]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    # Names of packages and modules stay whole, so that they can be copied.
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
