"""What happened, in lines that a person reads."""

import logging
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import islice

from nodewright.api import Clock


class LineKind(StrEnum):
    """What a line is about."""

    #: The world's story went on.
    STORY = "story"
    #: A group grows.
    GROW = "grow"
    #: Machines go.
    SHRINK = "shrink"
    #: Pods have to leave a node.
    DRAIN = "drain"
    #: Something went wrong and is dealt with.
    TROUBLE = "trouble"
    #: A node came or went.
    NODE = "node"


@dataclass(frozen=True, kw_only=True)
class Line:
    """One thing that happened."""

    at: datetime
    kind: LineKind
    text: str


class Log:
    """Lines from all sides. Safe to use from any thread."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: list[Line] = []

    def tell(self, kind: LineKind, text: str, *, at: datetime | None = None) -> None:
        """Add a line about what happened *at* some moment, or just now."""
        self._lines.append(Line(at=at or self._clock.now(), kind=kind, text=text))

    def after(self, count: int) -> list[Line]:
        """Return all lines but the first *count*, in order of time."""
        return sorted(self._lines[count:], key=_order)

    def latest(self, count: int, *, without: LineKind) -> tuple[Line, ...]:
        """Return the last *count* lines that are not of one kind, in order of time."""
        kept = (line for line in reversed(self._lines) if line.kind is not without)
        latest = list(islice(kept, count))
        latest.reverse()
        return tuple(sorted(latest, key=_order))


def _order(line: Line) -> tuple[datetime, bool]:
    # What the world did in a moment comes before what was decided on it.
    return line.at, line.kind not in (LineKind.STORY, LineKind.NODE)


class Warnings(logging.Handler):
    """Takes the warnings of a program into a log, so that they don't spoil a screen."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Add the first line of the message."""
        self._log.tell(LineKind.TROUBLE, record.getMessage().partition("\n")[0])
