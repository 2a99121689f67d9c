"""Colours on a terminal, and nowhere else."""

import os
import sys
from enum import Enum
from typing import TextIO


class Style(Enum):
    """How a word looks."""

    BOLD = "1"
    RED = "31"
    GREEN = "32"
    YELLOW = "33"

    def on(self, text: str, stream: TextIO | None = None) -> str:
        """Return *text* in this style if *stream*, by default standard output, takes colours."""
        return f"\x1b[{self.value}m{text}\x1b[0m" if text and takes_colours(stream or sys.stdout) else text


def takes_colours(stream: TextIO) -> bool:
    """Return whether colours are wanted: never with ``NO_COLOR``, always with ``FORCE_COLOR``, else on a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")
