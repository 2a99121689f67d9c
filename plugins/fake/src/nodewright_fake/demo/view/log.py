"""The log: what was decided, and why."""

from collections.abc import Iterator, Sequence

from rich.text import Text

from nodewright_fake.demo.log import Kind, Line
from nodewright_fake.demo.view import style
from nodewright_fake.demo.view.row import cell

#: Lines of the screen that one line of the log may take; on a low screen, that is for what grows only.
_TALL = 2
_LOW = 10
_CLOCK = 8


def log(lines: Sequence[Line], width: int, height: int) -> Iterator[Text]:
    """The latest lines, the newest at the bottom; long ones go on in a second line."""
    shown: list[Text] = []
    for line in reversed(lines):
        block = _block(line, width, _TALL if height > _LOW or line.kind is Kind.GROW else 1)
        if len(shown) + len(block) > height:
            break
        shown[:0] = block
    yield from shown


def _block(line: Line, width: int, most: int) -> list[Text]:
    indent = _CLOCK + 4
    room = max(10, width - indent)
    parts = _wrap(line.text, room, most)
    tone = style.LINE_STYLES[line.kind]
    words = tone if line.kind in (Kind.STORY, Kind.TROUBLE) else ""
    first = Text.assemble(
        (f"{line.at:%H:%M:%S} ", style.QUIET), (f" {style.LINE_SIGNS[line.kind]} ", tone), (parts[0], words)
    )
    return [cell(first, width), *(cell(Text(" " * indent + part, words), width) for part in parts[1:])]


def _wrap(text: str, width: int, most: int) -> list[str]:
    """Break *text* at spaces into at most so many parts, the last of which may be too long."""
    parts: list[str] = []
    while len(text) > width and len(parts) < most - 1:
        at = text.rfind(" ", width // 2, width + 1)
        cut = at if at > 0 else width
        parts.append(text[:cut])
        text = text[cut:].lstrip()
    return [*parts, text]
