"""Commands that a distribution adds to the command line, by the entry-point group ``nodewright.commands``."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace


class Command(ABC):
    """One word after ``nodewright``."""

    #: One line for ``nodewright --help``.
    summary: str = ""

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare options and arguments. Must import nothing heavy: called for ``--help``."""

    @abstractmethod
    def run(self, arguments: Namespace) -> int:
        """Do it and return the exit status: 0 done, 1 failed, 2 wrong usage or configuration."""
