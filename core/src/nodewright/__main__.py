"""``python -m nodewright``: the same as the command ``nodewright``."""

from nodewright.cli.main import program

program()
