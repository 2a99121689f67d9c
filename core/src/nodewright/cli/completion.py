"""``nodewright completion``: the TAB key completes commands and options."""

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from typing import ClassVar

from nodewright.api.command import Command
from nodewright.cli.exit_status import ExitStatus

_PROGRAM = "nodewright"
_HELP = """\
Put the line for your shell into its start-up file: it completes commands, options and their values, also those of \
commands that other distributions bring. Completion runs this program, and reaches no cluster."""


class CompletionCommand(Command):
    """Prints what a shell has to read for that."""

    examples: ClassVar[Mapping[str, str]] = {
        'eval "$(nodewright completion bash)"': "in ~/.bashrc",
        'eval "$(nodewright completion zsh)"': "in ~/.zshrc, after compinit",
        "nodewright completion fish | source": "in ~/.config/fish/config.fish",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the shells."""
        parser.epilog = _HELP
        parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="the shell to print it for")

    def run(self, arguments: Namespace) -> int:
        """Print it."""
        from argcomplete.shell_integration import shellcode

        print(shellcode([_PROGRAM], shell=arguments.shell))
        return ExitStatus.DONE


def complete() -> None:
    """Answer the shell that asks, by the variables of argcomplete, what may come next; ends the process."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()
    argcomplete.autocomplete(whole_parser(words), always_complete_options=False)


def whole_parser(words: Sequence[str]) -> ArgumentParser:
    """Return a parser of the whole program. Only the command that *words* name has its arguments."""
    from nodewright.api.errors import NodewrightError
    from nodewright.cli import commands

    parser = ArgumentParser(prog=_PROGRAM, allow_abbrev=False)
    parser.add_argument("--version", action="store_true", help="print the version")
    each = parser.add_subparsers()
    for name in commands.names():
        try:
            # A flag may be declared by the command, too.
            of_command = each.add_parser(name, help=commands.summary(name), conflict_handler="resolve")
            if name in words:
                commands.load(name)().add_arguments(of_command)
        except NodewrightError:
            # Such as a command that can't be imported: nobody could read about it here.
            continue
        if name in words and name in commands.BUILT_IN and commands.BUILT_IN[name].takes_flags:
            _add_flags(of_command)
    return parser


def _add_flags(parser: ArgumentParser) -> None:
    """Add the flags of Cluster Autoscaler, and our own that go with them."""
    from nodewright.config.flag_table import FLAGS
    from nodewright.config.flags import OWN

    for flag in (*OWN, *FLAGS.values()):
        # As text: what is wrong with a value is told when the command runs.
        if flag.instead:
            continue
        if flag.type == "bool":
            parser.add_argument(f"--{flag.name}", action="store_true")
        else:
            parser.add_argument(f"--{flag.name}", metavar=flag.type.upper())
