"""``nodewright plugins``: what is installed, and how it is."""

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from nodewright.api import Command
from nodewright.cli.commands import BUILT_IN
from nodewright.cli.table import aligned, screen_width
from nodewright.plugins.known import Known, State
from nodewright.plugins.registry import Registry

HEADER = ("KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHAT IT IS, OR WHAT IS WRONG")

#: Kind and name of a plugin.
Key = tuple[str, str]


class PluginsCommand(Command):
    """Shows every implementation that any installed distribution registers."""

    summary = "show every plugin: where it comes from, and whether it works"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare configuration and output format."""
        parser.add_argument("--config", type=Path, metavar="FILE", help="show which ones FILE names, and if it may")
        parser.add_argument("-o", "--output", choices=("table", "json"), default="table", help="default: %(default)s")

    def run(self, arguments: Namespace) -> int:
        """Print them all; return 2 if there is a configuration and something that it names can't be used."""
        registry = Registry()
        named = problems_by_name(arguments.config, registry) if arguments.config else {}
        known = with_use([_shadowed(each) for each in registry.known()], named)
        print(as_json(known) if arguments.output == "json" else as_table(known, width=screen_width()))
        return 2 if any(named.values()) else 0


def problems_by_name(file: Path, registry: Registry) -> Mapping[Key, str]:
    """Return every plugin that the configuration in *file* names, with what is wrong there; empty if nothing is.

    Raises `ConfigurationError` if *file* can't be read so far.
    """
    # The model of the whole configuration; not needed to list plugins.
    from nodewright.config.document import load
    from nodewright.config.paths import all_settings, dotted
    from nodewright.config.plugins import Placed, check_plugins, slot_of

    settings = load(file).settings
    problems: dict[Key, list[str]] = {}
    for setting in all_settings():
        if slot := slot_of(setting):
            mentions = setting.of(settings)
            for mention in mentions if isinstance(mentions, tuple) else (mentions,):
                mistakes = check_plugins([Placed(slot=slot, path=setting.path, mention=mention)], registry)
                problems.setdefault((slot.kind, mention.name), []).extend(
                    f"{dotted(mistake.path)}: {mistake.message}" for mistake in mistakes
                )
    return {key: "; ".join(dict.fromkeys(found)) for key, found in problems.items()}


def with_use(known: Iterable[Known], named: Mapping[Key, str]) -> Sequence[Known]:
    """Return *known* with what a configuration says, those that are missing last."""
    found = [_in_use(each, named[each.kind, each.name]) if (each.kind, each.name) in named else each for each in known]
    missing = named.keys() - {(each.kind, each.name) for each in found}
    return [
        *found,
        *(
            Known(kind=kind, name=name, distribution="", version="", state=State.MISSING, reason=named[kind, name])
            for kind, name in sorted(missing)
        ),
    ]


def as_table(known: Sequence[Known], *, width: int | None = None) -> str:
    """Return one line for each implementation, or as many as its last column needs to stay within *width*."""
    rows = [
        (each.kind, each.name, each.distribution, each.version, str(each.state), each.reason or each.description)
        for each in known
    ]
    return aligned([HEADER, *rows], width=width)


def as_json(known: Sequence[Known]) -> str:
    """Return a JSON list with one object for each implementation."""
    return json.dumps([asdict(each) for each in known], indent=2)


def _in_use(known: Known, problem: str) -> Known:
    if known.state != State.READY:
        return known
    return replace(known, state=State.FAILED, reason=problem) if problem else replace(known, state=State.IN_USE)


def _shadowed(known: Known) -> Known:
    if known.kind == "commands" and known.name in BUILT_IN:
        return replace(known, state=State.FAILED, reason="not used: nodewright itself has a command of this name")
    return known
