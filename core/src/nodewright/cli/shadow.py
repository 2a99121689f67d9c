"""``nodewright shadow report``: how a dry run differed from the autoscaler beside it."""

import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import ClassVar

from nodewright.api.command import Command
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import TABLE, add_output, written

#: How many differences are shown without ``--all``.
_MOST = 20
_HELP = """\
FILE is the record of the dry run: the file that record.path names in the configuration of `nodewright run --dry-run`. \
Files that were set aside are read as well.

Exit status: 0 if --tolerate allows the differences, 1 if there are more, 2 if the record can't be read or is not that \
of a dry run."""


class ShadowCommand(Command):
    """Reads a record and summarizes it."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright shadow report record.jsonl": "how the two differ",
        "nodewright shadow report record.jsonl --last 24h --tolerate 5": "a check: status 1 if over 5 % differ",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the arguments."""
        parser.epilog = _HELP
        parser.add_argument("what", choices=["report"], help="summarize the record")
        parser.add_argument("file", metavar="FILE", type=Path, help="the record")
        parser.add_argument("--all", action="store_true", help="show all differences")
        parser.add_argument(
            "--last", metavar="DURATION", type=_duration, help="read only the end of the record, such as 24h"
        )
        parser.add_argument(
            "--tolerate",
            metavar="PERCENT",
            type=_percent,
            default=0.0,
            help="the percentage of differences that is acceptable (default: 0)",
        )
        add_output(parser)

    def run(self, arguments: Namespace) -> int:
        """Print the report. Return 0 if the differences are acceptable, 1 if not, and 2 without a usable record."""
        from nodewright.cli.table import screen_width
        from nodewright.record.files import lines_of, parts_of
        from nodewright.shadow.report import as_data, page, summarize

        parts = parts_of(arguments.file)
        if not parts:
            print(f"nodewright: there is no record {arguments.file}: name the file of record.path", file=sys.stderr)
            return ExitStatus.WRONG
        summary = summarize(lines_of(parts))
        if summary.acting and summary.acting == summary.starts:
            print(
                f"nodewright: {arguments.file} is the record of an autoscaler that acts: name that of the dry run",
                file=sys.stderr,
            )
            return ExitStatus.WRONG
        if arguments.last is not None and summary.ended is not None:
            summary = summarize(lines_of(parts), since=summary.ended - arguments.last)
        if summary.began is None and summary.damaged:
            print(f"nodewright: {arguments.file} is not a record: none of its lines can be read", file=sys.stderr)
            return ExitStatus.WRONG
        if arguments.output == TABLE:
            print("\n".join(page(summary, width=screen_width(), most=None if arguments.all else _MOST)))
        else:
            print(written(as_data(summary), arguments.output))
        return ExitStatus.FAILED if summary.share > arguments.tolerate else ExitStatus.DONE


def _duration(text: str) -> timedelta:
    from nodewright.objects.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _percent(text: str) -> float:
    try:
        share = float(text.removesuffix("%"))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:
        raise ArgumentTypeError(f"write a number from 0 to 100, not {text}")
    return share
