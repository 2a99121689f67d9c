"""``nodewright decide``: the decisions about pictures of clusters that are kept in files."""

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nodewright.api.command import Command
from nodewright.api.errors import ConfigurationError, Problem
from nodewright.cli.table import aligned, screen_width

if TYPE_CHECKING:
    from nodewright.config.model import Settings
    from nodewright.config.paths import Path
    from nodewright.plugins import Registry
    from nodewright.scenario.rehearsal import Rehearsed

_HELP = """\
A FILE holds a scenario in JSON or YAML: Kubernetes objects, node groups with a template each, and options. Options are
Cluster Autoscaler's flags in camel case. With -o json, each scenario gives one line: {"iterations": [...]}.

Exit status: 0 decided, 1 a scenario can't be read, 2 wrong usage."""


class DecideCommand(Command):
    """Decides about scenarios, without acting."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare files, output format and overrides."""
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _HELP
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="a scenario; - is standard input, *.jsonl[.gz] has one scenario per line",
        )
        parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: %(default)s")
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
            print(f"warning: {warning}", file=sys.stderr)
        status = 0
        for file in arguments.files:
            try:
                for place, text in read_documents(file):
                    try:
                        settings, iterations = decide_document(text, place, overrides, registry)
                    except ScenarioError as error:
                        status = _failed(error, as_json=arguments.output == "json")
                    else:
                        print(_told(place, settings, iterations, as_json=arguments.output == "json"))
            except ScenarioError as error:
                status = _failed(error, as_json=False)
        return status


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


def _failed(error: Exception, *, as_json: bool) -> int:
    """Print *error*. With JSON, also print it in place of the answer, to keep one line for each scenario."""
    if as_json:
        print(json.dumps({"error": str(error)}))
    print(f"nodewright: {error}", file=sys.stderr)
    return 1


def _told(place: str, settings: "Settings", iterations: Sequence["Rehearsed"], *, as_json: bool) -> str:
    from nodewright.scenario.answer import answer

    if as_json:
        return json.dumps({"iterations": [answer(each, settings) for each in iterations]})
    return "\n".join(_page(place, each) for each in iterations)


def _page(place: str, rehearsed: "Rehearsed") -> str:
    from nodewright.explain.overview import overview

    lines, tables = overview(rehearsed.look)
    head = f"{place} at {rehearsed.look.decision.at:%Y-%m-%d %H:%M:%S}"
    told = "\n".join((head, *(f"  {line}" for line in lines)))
    return "\n\n".join((told, *(aligned(table, width=screen_width()) for table in tables))) + "\n"
