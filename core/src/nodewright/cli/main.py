"""``nodewright <command> ...``: finds the command, runs it, and turns errors into messages and exit statuses."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence

from nodewright import __version__
from nodewright.api import ConfigurationError, NodewrightError, PluginError
from nodewright.cli import commands
from nodewright.cli.table import aligned, screen_width
from nodewright.plugins.faults import describe
from nodewright.plugins.registry import Registry

USAGE = "usage: nodewright [-h | --version] <command> ..."

FAILED = 1
WRONG = 2
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv* (by default the program's own) and return its exit status."""
    return guarded(lambda: dispatch(sys.argv[1:] if argv is None else argv, Registry()))


def guarded(program: Callable[[], int]) -> int:
    """Run *program* and return its exit status.

    Expected errors go to stderr in words, with status 2 for wrong usage, configuration or plugins, and 1 otherwise.
    """
    try:
        status = program()
        sys.stdout.flush()
    except ConfigurationError as error:
        print(error, file=sys.stderr)
        return WRONG
    except NodewrightError as error:
        print(f"nodewright: {error}", file=sys.stderr)
        return WRONG if isinstance(error, PluginError) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more when it exits, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    return status


def dispatch(words: Sequence[str], registry: Registry) -> int:
    """Run the command that the first of *words* names, with the others; return its exit status."""
    match words:
        case []:
            print(f"{USAGE}\nnodewright --help lists the commands", file=sys.stderr)
            return WRONG
        case ["-h" | "--help", *_]:
            print(overview(registry))
            return 0
        case ["--version", *_]:
            print(f"nodewright {__version__}")
            return 0
        case [option, *_] if option.startswith("-"):
            print(f"{USAGE}\nnodewright: {option} goes after a command: nodewright run {option}", file=sys.stderr)
            return WRONG
        case [name, *rest]:
            return run(name, rest, registry)
    raise AssertionError("unreachable")


def run(name: str, words: Sequence[str], registry: Registry) -> int:
    """Run command *name* with *words*; return its exit status."""
    command = commands.load(name, registry)()
    parser = ArgumentParser(prog=f"nodewright {name}", description=command.summary, allow_abbrev=False)
    command.add_arguments(parser)
    if not command.passthrough:
        return command.run(parser.parse_args(words))
    if words and words[0] in ("-h", "--help"):
        parser.print_help()
        return 0
    return command.run(Namespace(rest=list(words)))


def overview(registry: Registry) -> str:
    """Return the help text: all commands with their summaries, or with what keeps them from being loaded."""
    rows = [(f"  {name}", _summary(name, registry)) for name in commands.names(registry)]
    return "\n".join(
        (
            USAGE,
            "",
            "A node autoscaler for Kubernetes whose every decision explains itself.",
            "",
            "commands:",
            aligned(rows, width=screen_width()),
            "",
            "nodewright <command> --help tells more about one.",
        )
    )


def _summary(name: str, registry: Registry) -> str:
    try:
        return commands.load(name, registry).summary
    except PluginError:
        return "(can't be loaded; nodewright plugins tells why)"
    except Exception as error:  # whatever is wrong with one command, the others are listed
        return f"(can't be loaded: {describe(error)})"
