"""``nodewright conformance``: tests whether a provider keeps the contract, in the account that it is configured for."""

from __future__ import annotations

import json
import signal
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, ClassVar, TextIO

from nodewright.api import Command, ConfigurationError, NodewrightError
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import TABLE, add_output, written
from nodewright.cli.progress import foot_line, rounded
from nodewright.cli.style import Style
from nodewright.cli.table import aligned, screen_width

if TYPE_CHECKING:
    from nodewright.testing.conformance.live.results import Report, Result, Rule
    from nodewright.testing.conformance.live.trial import Trial

_INSTALL = "the suite needs pytest, which is not installed: pip install pytest"
_HELP = """\
Without --full, nothing is changed: the suite only reads, and it refuses actions before they reach the provider. With \
--full, the suite resizes one group again and again, and deletes its machines: choose a group that is not in use. The \
suite resets the size after each test and at the end, even after Ctrl-C or a lost connection.

Exit status: 0 if no rule is broken, 1 if one is, 2 if the suite could not run."""

_REPORTS = (".html", ".md", ".json")
_WIDEST_NAME = 72
_STYLES = {"passed ": Style.GREEN, "FAILED ": Style.RED, "RESULT ": Style.BOLD}


class ConformanceCommand(Command):
    """Runs the provider suite against a real account."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright conformance --config nodewright.yaml --provider aws": "read only",
        "nodewright conformance --config nodewright.yaml --provider aws --group spare --full": "resize a spare group",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the arguments."""
        parser.epilog = _HELP
        parser.add_argument(
            "--provider",
            required=True,
            metavar="NAME",
            help="an entry of `providers`; the second one of the same name is NAME-2",
        )
        parser.add_argument(
            "--config", required=True, type=Path, metavar="FILE", help="the configuration that names the provider"
        )
        parser.add_argument(
            "--group",
            metavar="ID",
            help="the group to test, or the last part of its id (default: one that has machines and is at rest)",
        )
        parser.add_argument("--full", action="store_true", help="also resize the group; needs --group")
        parser.add_argument("--yes", action="store_true", help="with --full: do not ask for confirmation")
        parser.add_argument(
            "--keep-going", action="store_true", help="with --full: continue after the first broken rule"
        )
        parser.add_argument(
            "--timeout",
            type=_duration,
            default=timedelta(minutes=15),
            metavar="DURATION",
            help="with --full: how long the group may take to come to rest (default: 15m)",
        )
        parser.add_argument(
            "--poll",
            type=_duration,
            default=timedelta(seconds=10),
            metavar="DURATION",
            help="with --full: the longest pause between two looks at the group; the first are shorter (default: 10s)",
        )
        parser.add_argument(
            "--report", type=Path, metavar="FILE", help="write all results to FILE.html, FILE.md or FILE.json"
        )
        add_output(parser)

    def run(self, arguments: Namespace) -> int:
        """Test all rules. Return 0 if none is broken, 1 if one is, 2 if the suite could not run."""
        complaint = _complaint(arguments)
        if complaint:
            return _refuse(complaint)
        try:
            return _tried(arguments)
        except ConfigurationError:
            raise
        except NodewrightError as error:
            return _refuse(str(error))


def _complaint(arguments: Namespace) -> str:
    """Return what is wrong with the arguments; an empty text if nothing is."""
    if arguments.full and not arguments.group:
        return "--full needs --group: name the group to resize"
    report: Path | None = arguments.report
    if report is not None and report.suffix not in _REPORTS:
        return f"--report {report}: name a file that ends in {', '.join(_REPORTS[:-1])} or {_REPORTS[-1]}"
    if report is not None and not report.parent.is_dir():
        return f"--report {report}: the directory {report.parent} does not exist"
    return "" if find_spec("pytest") else _INSTALL


def _tried(arguments: Namespace) -> int:
    # pytest and the suite are heavy, and only needed here.
    from nodewright.config.secrets import masked
    from nodewright.testing.conformance.live.cloud import Patience
    from nodewright.testing.conformance.live.trial import Account, Trial, open_account, open_group

    account = Account(arguments.config, arguments.provider)
    try:
        if arguments.full:
            patience = Patience(deadline=arguments.timeout, interval=arguments.poll)
            trial = Trial(account, open_group(account, arguments.group, patience))
        else:
            trial = Trial(account, open_account(account, arguments.group or ""))
    except NodewrightError as error:
        return _refuse(f"{arguments.provider} can't be read: {masked(str(error), account.secrets)}")
    print(trial.announcement, file=_stream(arguments))
    if arguments.full and not arguments.yes and not _agreed():
        return ExitStatus.WRONG
    with _terminated_as_interrupted():
        return _judged(trial, arguments)


def _judged(trial: Trial, arguments: Namespace) -> int:
    progress = _Progress(trial.abilities)
    out = _stream(arguments)
    table = _RuleTable(progress, out)
    report = trial.run(
        begin=table.begin,
        start=progress.start,
        tell=table.tell,
        interrupt=progress.interrupt,
        keep_going=arguments.keep_going or not arguments.full,
    )
    table.end()
    print(f"\n{report.summary}", file=out)
    if arguments.output != TABLE:
        print(written(json.loads(_page(report, ".json")), arguments.output))
    if report.trouble:
        print(f"nodewright conformance: {report.trouble}", file=sys.stderr)
    if arguments.report is not None:
        try:
            arguments.report.write_text(_page(report, arguments.report.suffix), encoding="utf-8")
        except OSError as error:
            return _refuse(f"--report {arguments.report}: {error.strerror}")
    return report.status


def _stream(arguments: Namespace) -> TextIO:
    """Return where people read: a report for programs has stdout to itself."""
    return sys.stdout if arguments.output == TABLE else sys.stderr


def _page(report: Report, suffix: str) -> str:
    from nodewright.testing.conformance.live.html import as_html
    from nodewright.testing.conformance.live.pages import as_json, as_markdown

    return {".html": as_html, ".json": as_json, ".md": as_markdown}[suffix](report)


class _Progress:
    """Keeps a line at the foot of the terminal: what is tried now, how far it is, how long it will take.

    Prints nothing if stderr is no terminal: logs have no use for it.
    """

    def __init__(self, abilities: Collection[str]) -> None:
        from nodewright.testing.conformance.live.pace import Pace

        self._pace = Pace(abilities)

    def begin(self, rules: Sequence[Rule]) -> None:
        """Note which rules are to be tried."""
        self._pace.begin(rules)

    def start(self, rule: Rule) -> None:
        """Show that *rule* is being tried."""
        self._pace.start(monotonic())
        left = self._pace.left
        foot_line(f"{self._pace.done} rules, {'trying' if left is None else f'{rounded(left)} left'}: {rule.name}")

    def tell(self, result: Result) -> None:
        """Note that a rule was tried, and make room for lines of other kinds."""
        self._pace.tell(result, monotonic())
        foot_line("")

    def interrupt(self) -> None:
        """Say that the run ends, and that this takes a while."""
        foot_line("")
        print("interrupted: please wait until the group has its size back", file=sys.stderr)


class _RuleTable:
    """Prints a line for each rule as soon as it was tested, and at the end how many were skipped, and why."""

    def __init__(self, progress: _Progress, out: TextIO) -> None:
        self._progress = progress
        self._out = out
        self._name = 0
        self._skipped = Counter[str]()

    def begin(self, rules: Sequence[Rule]) -> None:
        """Print the header."""
        self._progress.begin(rules)
        self._name = min(_WIDEST_NAME, max((len(rule.name) for rule in rules), default=0))
        if rules:
            print(file=self._out)
            self._line("RESULT", "RULE", "WHY")

    def tell(self, result: Result) -> None:
        """Print the result of a rule. A broken one is in capitals."""
        from nodewright.testing.conformance.live.results import Outcome

        self._progress.tell(result)
        match result.outcome:
            case Outcome.SKIPPED:
                self._skipped[" ".join(result.reason.split())] += 1
            case Outcome.FAILED:
                self._line("FAILED", result.rule.name, result.reason)
            case Outcome.PASSED:
                self._line("passed", result.rule.name, "")

    def end(self) -> None:
        """Print how many rules were skipped for each reason. The report lists them."""
        if self._skipped:
            rows = [("SKIPPED", "WHY"), *((str(count), reason) for reason, count in self._skipped.items())]
            print("\n" + aligned(rows, width=screen_width(), header=True).rstrip(), file=self._out)

    def _line(self, outcome: str, name: str, reason: str) -> None:
        words = " ".join(reason.split())
        row = (f"{outcome:<7}", f"{name:<{self._name}}", words)
        print(aligned([row], width=screen_width(), styles=_STYLES).rstrip(), file=self._out, flush=True)


def _agreed() -> bool:
    """Ask on the terminal. Without a terminal, the answer is no."""
    if not sys.stdin.isatty():
        _refuse("there is no terminal to ask on: add --yes to go ahead")
        return False
    try:
        answer = input("Go ahead? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() in ("y", "yes"):
        return True
    _refuse("nothing was changed")
    return False


def _refuse(message: str) -> int:
    print(f"nodewright conformance: {message}", file=sys.stderr)
    return ExitStatus.WRONG


@contextmanager
def _terminated_as_interrupted() -> Iterator[None]:
    """Let SIGTERM and the end of the terminal do the same as Ctrl-C: the group gets its size back before the end."""

    def interrupt(number: int, frame: object) -> None:
        # Shell and system may both signal that the terminal is closed: the second signal must not stop the reset.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    for number, handler in before.items():
        if number != signal.SIGHUP or handler is not signal.SIG_IGN:  # ignored under nohup
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _duration(text: str) -> timedelta:
    from nodewright.objects.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
