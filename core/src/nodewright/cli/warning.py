"""Warnings of commands, on stderr."""

import sys

from nodewright.cli.style import Style
from nodewright.cli.table import folded, screen_width

_PREFIX = "warning:"


def warn(text: object) -> None:
    """Print a warning, folded to the terminal."""
    lines = folded(f"{_PREFIX} {text}", screen_width(sys.stderr))
    print(lines.replace(_PREFIX, Style.YELLOW.on(_PREFIX, sys.stderr), 1), file=sys.stderr)
