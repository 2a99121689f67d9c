"""``nodewright decide``: the decisions about pictures of clusters that are kept in files."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from nodewright.api.command import Command
from nodewright.api.errors import ConfigurationError, Problem
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import JSON, TABLE, add_output, written
from nodewright.cli.progress import Progress, foot_line
from nodewright.cli.table import aligned, folded, screen_width
from nodewright.cli.warning import warn

if TYPE_CHECKING:
    from nodewright.config.model import Settings
    from nodewright.config.paths import Path
    from nodewright.plugins import Registry
    from nodewright.scenario.rehearsal import Rehearsed

_HELP = """\
A FILE holds a scenario in JSON or YAML: Kubernetes objects, node groups with a template each, and options. Options \
are Cluster Autoscaler's flags in camel case. With -o json, each scenario gives one line: {"iterations": [...]}; with \
-o yaml, one document.

Exit status: 0 decided, 1 a scenario can't be read, 2 wrong usage."""

#: Columns that a narrow terminal can do without, by the first word of the table's header.
_DROP = {"GROUP": (2,), "NODE": (3, 2, 1)}


class DecideCommand(Command):
    """Decides about scenarios, without acting."""

    examples: ClassVar[Mapping[str, str]] = {
        "nodewright decide picture.json": "what would be done, and why",
        "nodewright decide picture.json --set scaleUp.expanders=[price]": "the same by another policy",
        "nodewright decide -o json many.jsonl.gz": "a line of JSON for each of many scenarios",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare files, output format and overrides."""
        parser.epilog = _HELP
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="a scenario; - is standard input, *.jsonl[.gz] has one scenario per line",
        )
        add_output(parser)
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            dest="overrides",
            metavar="PATH=VALUE",
            help="a setting that overrides the scenario, such as scaleUp.optionsPerLoop=1",
        )

    def run(self, arguments: Namespace) -> int:
        """Print a decision for each iteration of each scenario. Return 1 if a scenario can't be read."""
        from nodewright.config.document import load
        from nodewright.plugins import Registry
        from nodewright.scenario.files import ScenarioError, read_documents

        registry = Registry()
        overrides = read_overrides(arguments.overrides)
        for warning in load(overrides=overrides, classes=registry, complete=False).warnings:
            warn(warning)
        status = ExitStatus.DONE
        with Progress("deciding") as progress:
            for file in arguments.files:
                try:
                    for place, text in counted(read_documents(file), file, progress):
                        try:
                            settings, iterations = decide_document(text, place, overrides, registry)
                        except ScenarioError as error:
                            status = _failed(error, progress, arguments.output)
                        else:
                            progress.print(_told(place, settings, iterations, arguments.output))
                except ScenarioError as error:
                    status = _failed(error, progress, TABLE)
        return status


def counted(documents: Iterable[tuple[str, str]], file: str, progress: Progress) -> Iterator[tuple[str, str]]:
    """Yield the *documents* of *file* and note in *progress* how far it is."""
    from nodewright.scenario.files import count_documents

    progress.now(f"deciding about {file}", total=count_documents(file))
    for document in documents:
        yield document
        progress.step()


def read_overrides(words: Sequence[str]) -> Mapping["Path", Any]:
    """Return the values by path that *words* set. Each word is ``path=value``, with the value in YAML.

    Raises `ConfigurationError` with every word of another form.
    """
    from nodewright.config.tree import read_yaml

    overrides: dict[Path, Any] = {}
    problems = []
    for word in words:
        path, equals, text = word.partition("=")
        if not equals or not all(path.split(".")):
            message = f"write a setting and its value, such as scaleUp.optionsPerLoop=1, not {word!r}"
            problems.append(Problem(message=message, source="flags", path="--set"))
            continue
        tree, mistakes = read_yaml(f"value: {text}", "flags")
        problems += [Problem(message=each.message, source="flags", path=f"--set {path}") for each in mistakes]
        overrides[tuple(path.split("."))] = tree.data.get("value")
    if problems:
        raise ConfigurationError(*problems)
    return overrides


def decide_document(
    text: str, place: str, overrides: Mapping["Path", Any], registry: "Registry"
) -> tuple["Settings", list["Rehearsed"]]:
    """Return the settings and the iterations of the scenario *text*.

    Raises `ScenarioError` that names *place* and the wrong object or option.
    """
    from nodewright.plugins import Faults
    from nodewright.runtime.clock import SystemClock
    from nodewright.runtime.strategies import Strategies
    from nodewright.scenario.files import ScenarioError, parse_document
    from nodewright.scenario.rehearsal import rehearse
    from nodewright.scenario.scenario import read_scenario

    try:
        scenario = read_scenario(parse_document(text, place), overrides, registry)
        strategies = Strategies(registry, Faults(SystemClock()))
        try:
            return scenario.settings, list(rehearse(scenario, strategies.policy(scenario.settings)))
        finally:
            strategies.close()
    except ConfigurationError as error:
        raise ScenarioError("\n".join(f"{place}: {_within(each)}" for each in error.problems)) from None


def _within(problem: Problem) -> str:
    return f"{problem.path}: {problem.message}" if problem.path else problem.message


def _failed(error: Exception, progress: Progress, form: str) -> ExitStatus:
    """Print *error*. For programs, also print it in place of the answer, to keep one for each scenario."""
    if form != TABLE:
        progress.print(_document({"error": str(error)}, form))
    foot_line("")
    print(f"nodewright: {error}", file=sys.stderr)
    return ExitStatus.FAILED


def _told(place: str, settings: "Settings", iterations: Sequence["Rehearsed"], form: str) -> str:
    from nodewright.scenario.answer import answer

    if form == TABLE:
        return "\n".join(_page(place, each) for each in iterations)
    return _document({"iterations": [answer(each, settings) for each in iterations]}, form)


def _document(data: Mapping[str, Any], form: str) -> str:
    """Return *data* as a line of JSON, or as a document of a YAML stream."""
    return json.dumps(data) if form == JSON else f"---\n{written(data, form)}"


def _page(place: str, rehearsed: "Rehearsed") -> str:
    from nodewright.explain.overview import overview, summary

    lines, tables = overview(rehearsed.look)
    head = f"{place} at {rehearsed.look.decision.at:%Y-%m-%d %H:%M:%S}"
    told = folded("\n".join((head, *(f"  {line}" for line in lines))), screen_width())
    shown = (aligned(table, width=screen_width(), drop=_DROP.get(table[0][0], ()), header=True) for table in tables)
    return "\n\n".join((told, *shown, summary(rehearsed.look.decision))) + "\n"
