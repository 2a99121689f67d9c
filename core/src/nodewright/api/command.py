"""Commands that a distribution adds to the command line, by the entry-point group ``nodewright.commands``."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import ClassVar


class Command(ABC):
    """One word after ``nodewright``."""

    #: One line for ``nodewright --help``.
    summary: ClassVar[str] = ""
    #: Whether the command parses its arguments itself. `run` then gets all of them, unchanged, in ``arguments.rest``,
    #: and what `add_arguments` declares is shown only for a first argument ``-h`` or ``--help``.
    passthrough: ClassVar[bool] = False
    #: Command lines that work, with what each is for. They stand below the help.
    examples: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare options and arguments. Must import nothing heavy: called for ``--help``."""

    @abstractmethod
    def run(self, arguments: Namespace) -> int:
        """Run the command and return the exit status: 0 done, 1 failed, 2 wrong usage or configuration."""
