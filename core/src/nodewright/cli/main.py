"""``nodewright <command> ...``: finds the command, runs it, and turns errors into messages and exit statuses.

This module and `nodewright.cli.commands` import nothing heavy: each command imports what it needs when it runs.
"""

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread
from time import sleep
from typing import NoReturn

from nodewright import __version__
from nodewright.cli import commands
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.table import aligned, folded, screen_width

USAGE = "usage: nodewright [-h | --version] <command> ..."

#: Objects made until Python looks for garbage: a start makes many, and all of them stay.
_GARBAGE_THRESHOLD = 10_000
#: This process multiplies no matrices, and its models have no observers; both would cost memory and time at each start.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
#: How long threads that a plugin has left running may keep the process from its end.
_LAST_SECONDS = 3.0


def program() -> NoReturn:
    """Run the program's own command line and end the process, whatever threads plugins have left running."""
    gc.set_threshold(_GARBAGE_THRESHOLD)
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    _mend_streams()
    if "_ARGCOMPLETE" in os.environ:
        from nodewright.cli.completion import complete

        complete()
    leave(main())


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line *argv* (by default the program's own) and return its exit status."""
    return guarded(lambda: dispatch(sys.argv[1:] if argv is None else argv))


def guarded(program: Callable[[], int]) -> int:
    """Run *program* and return its exit status.

    Expected errors go to stderr in words, with status 2 for wrong usage, configuration or plugins, and 1 otherwise.
    """
    try:
        status = program()
        sys.stdout.flush()
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except BrokenPipeError:
        _give_up_stdout()
        return ExitStatus.BROKEN_PIPE
    except OSError as error:
        # Most often a full disk below stdout.
        _give_up_stdout()
        about = f"{error.filename}: " if error.filename else ""
        with suppress(OSError):
            print(f"nodewright: {about}{error.strerror or error}", file=sys.stderr)
        return ExitStatus.FAILED
    except Exception as error:
        failure = _failure(error)
        if failure is None:
            raise
        message, status = failure
        print(folded(message, screen_width(sys.stderr)), file=sys.stderr)
    return status


def _mend_streams() -> None:
    """Make streams that the caller has closed lead nowhere; write what an encoding lacks as an escape."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (for the life of the process)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        getattr(sys, name).reconfigure(errors="backslashreplace")


def _give_up_stdout() -> None:
    """Let stdout lead nowhere: Python flushes it once more when it exits, and would complain then."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def leave(status: int) -> NoReturn:
    """End the process with *status*; wait a few seconds for threads that have no end, and name them."""
    if _threads_left():
        Thread(target=_end_without_waiting, args=(status,), name="leave", daemon=True).start()
    sys.exit(status)


def _end_without_waiting(status: int) -> None:
    sleep(_LAST_SECONDS)
    left = ", ".join(_threads_left())
    print(f"nodewright: ending without waiting for these threads: {left}", file=sys.stderr, flush=True)
    os._exit(status)


def _threads_left() -> list[str]:
    """Return the names of the threads that Python would wait for."""
    return [each.name for each in threading.enumerate() if not each.daemon and each is not threading.main_thread()]


def dispatch(words: Sequence[str]) -> int:
    """Run the command that the first of *words* names, with the others; return its exit status."""
    strange = next(filter(_is_no_text, words), None)
    if strange is not None:
        print(f"nodewright: {strange!a} is not written in UTF-8", file=sys.stderr)
        return ExitStatus.WRONG
    match words:
        case []:
            print(f"{USAGE}\nnodewright --help lists the commands", file=sys.stderr)
            return ExitStatus.WRONG
        case ["-h" | "--help", *_]:
            print(overview())
            return 0
        case ["--version", *_]:
            print(f"nodewright {__version__}")
            return 0
        case [option, *_] if option.startswith("-"):
            print(f"{USAGE}\nnodewright: {option} goes after a command: nodewright run {option}", file=sys.stderr)
            return ExitStatus.WRONG
        case [name, *rest]:
            return run(name, rest)
    raise AssertionError("unreachable")


def _is_no_text(word: str) -> bool:
    try:
        word.encode()
    except UnicodeEncodeError:
        return True
    return False


def run(name: str, words: Sequence[str]) -> int:
    """Run command *name* with *words*; return its exit status."""
    from argparse import Namespace

    from nodewright.cli.help import add_examples, parser_of

    command = commands.load(name)()
    # Until here, an interrupt has ended the process without a word.
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = parser_of(name, commands.summary(name))
    command.add_arguments(parser)
    add_examples(parser, command.examples)
    if not command.passthrough:
        return command.run(parser.parse_args(words))
    if words and words[0] in ("-h", "--help"):
        parser.print_help()
        return 0
    return command.run(Namespace(rest=list(words)))


def overview() -> str:
    """Return the help text: all commands with their summaries, or with what keeps them from being loaded."""
    rows = [(f"  {name}", _summary(name)) for name in commands.names()]
    return "\n".join(
        (
            USAGE,
            "",
            "A node autoscaler for Kubernetes whose every decision explains itself.",
            "",
            "commands:",
            aligned(rows, width=screen_width()),
            "",
            "nodewright <command> --help says more about one of them.",
        )
    )


def _summary(name: str) -> str:
    try:
        return commands.summary(name)
    except Exception as error:  # whatever is wrong with one command, the others are listed
        from nodewright.api.errors import PluginError
        from nodewright.plugins.error_text import describe

        if isinstance(error, PluginError):
            return "(can't be loaded; nodewright plugins says why)"
        return f"(can't be loaded: {describe(error)})"


def _failure(error: Exception) -> tuple[str, int] | None:
    """Return the message and the exit status for an expected *error*; None for a bug."""
    from nodewright.api.errors import ConfigurationError, NodewrightError, PluginError

    match error:
        case ConfigurationError():
            return str(error), ExitStatus.WRONG
        case PluginError():
            return f"nodewright: {error}", ExitStatus.WRONG
        case NodewrightError():
            return f"nodewright: {error}", ExitStatus.FAILED
    return None
