"""Rows: cells of fixed width, one screen line high."""

from collections.abc import Iterable

from rich.text import Text


def cell(content: str | Text, width: int, style: str = "", *, right: bool = False) -> Text:
    """Return *content* in exactly *width* columns, cut off with an ellipsis if need be."""
    text = content.copy() if isinstance(content, Text) else Text(content, style=style)
    text.truncate(width, overflow="ellipsis")
    missing = width - text.cell_len
    if right:
        text.pad_left(missing)
    else:
        text.pad_right(missing)
    return text


def row(cells: Iterable[Text], *, gap: int = 2) -> Text:
    """Return cells side by side."""
    return Text(" " * gap, no_wrap=True).join(cells)


def bar(share: float, width: int, style: str) -> Text:
    """Return a bar that is filled to *share*, 0 to 1, to half a column."""
    halves = round(min(max(share, 0.0), 1.0) * width * 2)
    if share > 0:
        halves = max(halves, 1)
    filled = "━" * (halves // 2) + "╸" * (halves % 2)
    return Text.assemble((filled, style), ("·" * (width - len(filled)), "dim"))
