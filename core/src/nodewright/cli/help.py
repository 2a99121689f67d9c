"""The help of one command: its description wrapped to the terminal, and its examples."""

import shutil
import textwrap
from argparse import ArgumentParser, HelpFormatter
from collections.abc import Mapping

#: Longer lines are hard to read.
_WIDEST = 100


class PageFormatter(HelpFormatter):
    """Wraps each paragraph of a text by itself, and leaves indented lines as they are."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=min(shutil.get_terminal_size().columns, _WIDEST) - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(_filled(line, width) for line in text.splitlines())


def parser_of(name: str, description: str) -> ArgumentParser:
    """Return the parser of the command *name*, without arguments yet."""
    return ArgumentParser(
        prog=f"nodewright {name}", description=description, formatter_class=PageFormatter, allow_abbrev=False
    )


def add_examples(parser: ArgumentParser, examples: Mapping[str, str]) -> None:
    """Put *examples* below the help text: command lines, with what each is for."""
    if examples:
        lines = "\n".join(f"  {line}\n      {purpose}" for line, purpose in examples.items())
        parser.epilog = "\n\n".join(part for part in (parser.epilog, f"examples:\n{lines}") if part)


def _filled(line: str, width: int) -> str:
    return line if line.startswith(" ") else textwrap.fill(line, width, break_on_hyphens=False)
