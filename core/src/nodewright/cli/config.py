"""``nodewright config``: check, show and translate configuration."""

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from nodewright.api import Command, ConfigurationError, PluginError, Problem
from nodewright.cli.table import aligned, screen_width
from nodewright.config.document import Loaded, flags_to_yaml, load
from nodewright.config.flag import Flag
from nodewright.config.flags import Flags, parse_flags
from nodewright.config.flags_page import flags_page
from nodewright.config.plugins import PluginClasses
from nodewright.config.providers import LiveGroup, live_groups
from nodewright.config.schema import json_schema
from nodewright.config.show import GroupReport, Row, as_data, group_report, rule_report, setting_rows
from nodewright.config.tree import dump
from nodewright.config.trial import trial
from nodewright.runtime.clock import SystemClock

_HELP = """\
check [FILE] [flags]       report every mistake in a configuration
show [FILE] [flags]        print every setting, its value and its origin, and the options of every node group
    --group NAME           print the options of this group only; can be repeated
    --live[=false]         ask the providers for their groups, or do not ask
    -o table|json|yaml     the output format
from-flags [flags]         print the YAML that does the same as these flags
schema                     print the JSON Schema of the file, with the settings of all installed plugins
flags                      print the documentation page about all flags, in Markdown

The flags are those of `nodewright run`: Cluster Autoscaler's, and --config FILE."""

_SHOW = (Flag("group", "list"), Flag("live", "bool"), Flag("o", "string", "table"), Flag("output", "string", "table"))
_FORMATS = ("table", "json", "yaml")


class ConfigCommand(Command):
    """Works with configuration, without running the autoscaler."""

    passthrough: ClassVar[bool] = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = f"{parser.prog} check|show|from-flags|schema|flags ..."
        parser.formatter_class = RawDescriptionHelpFormatter
        parser.epilog = _HELP

    def run(self, arguments: Namespace) -> int:
        """Run the action that the first word names, with the other words."""
        match arguments.rest:
            case [action, *words] if action in _ACTIONS and not {"-h", "--help"} & set(words):
                return _ACTIONS[action](words)
            case [action, *_] if action in _ACTIONS:
                print(_HELP)
                return 0
            case [action, *_]:
                print(f"nodewright config: {action} is not one of {', '.join(_ACTIONS)}", file=sys.stderr)
            case _:
                print(f"nodewright config: name an action\n\n{_HELP}", file=sys.stderr)
        return 2


def check(words: Sequence[str]) -> int:
    """Print ``ok``, or raise `ConfigurationError` with every mistake."""
    loaded = _load(parse_flags(words, words=1))
    _warn(loaded.warnings)
    problems = tuple(each.problem for each in trial(loaded, _registry(), SystemClock()))
    if problems:
        raise ConfigurationError(*problems)
    print("ok")
    return 0


def schema(words: Sequence[str]) -> int:
    """Print the JSON Schema."""
    _refuse(parse_flags(words))
    print(json.dumps(json_schema(_registry()), indent=2))
    return 0


def from_flags(words: Sequence[str]) -> int:
    """Print the YAML that does the same as the flags. The plugins that it names need not be installed."""
    flags = parse_flags(words)
    loaded = load(flags.config, flags=flags)
    ignored = {f"--{each.flag.name}" for each in flags.given if each.flag.instead}
    notes = [f"{warning.path}: {warning.message}" for warning in loaded.warnings if warning.path not in ignored]
    print(flags_to_yaml(flags, loaded.settings, notes), end="")
    return 0


def page(words: Sequence[str]) -> int:
    """Print the page about flags."""
    _refuse(parse_flags(words))
    print(flags_page(), end="")
    return 0


def show(words: Sequence[str]) -> int:
    """Print every setting, and the options of node groups."""
    flags = parse_flags(words, own=_SHOW, words=1)
    output = flags.own.get("output", flags.own.get("o", "table"))
    if output not in _FORMATS:
        message = f'must be one of {", ".join(_FORMATS)}, not "{output}"'
        problem = Problem(message=message, source="flags", path="--output")
        flags = replace(flags, problems=(*flags.problems, problem))
    loaded = _load(flags, complete=False)
    _warn(loaded.warnings)
    rows, groups = setting_rows(loaded), _groups(loaded, flags)
    if output == "table":
        print(_tables(rows, groups))
    else:
        data = as_data(rows, groups)
        print(json.dumps(data, indent=2) if output == "json" else dump(data).rstrip())
    return 0


_ACTIONS: dict[str, Callable[[Sequence[str]], int]] = {
    "check": check,
    "show": show,
    "from-flags": from_flags,
    "schema": schema,
    "flags": page,
}


def _load(flags: Flags, *, complete: bool = True) -> Loaded:
    file = Path(flags.words[0]) if flags.words else flags.config
    if flags.words and flags.config is not None:
        problem = Problem(message=f"names a second file besides {file}", source="flags", path="--config")
        flags = replace(flags, problems=(*flags.problems, problem))
    return load(file, flags=flags, classes=_registry(), complete=complete)


def _groups(loaded: Loaded, flags: Flags) -> list[GroupReport]:
    """Return a report for each group that is asked for. If none is named, for all groups, or else for all rules."""
    named: list[str] = flags.own.get("group", [])
    live: list[LiveGroup] = []
    if flags.own.get("live", not named):
        try:
            live = live_groups(loaded.settings, _registry(), SystemClock())
        except PluginError as error:
            if "live" in flags.own:
                raise
            print(f"the groups are unknown, so the rules for them are shown: {error}", file=sys.stderr)
    if not (named or live):
        return [rule_report(loaded, index) for index in range(len(loaded.settings.groups))]
    by_id = {group.id: group for group in live}
    return [
        group_report(loaded, name, provider=by_id[name].provider, from_provider=by_id[name].options)
        if name in by_id
        else group_report(loaded, name)
        for name in named or by_id
    ]


def _tables(rows: Sequence[Row], groups: Sequence[GroupReport]) -> str:
    parts = [_table("SETTING", rows)]
    for group in groups:
        owner = f" of {group.provider}" if group.provider else ""
        parts.append(f"\ngroup {group.group}{owner}\n{_table('OPTION', group.options)}")
    return "\n".join(parts)


def _table(title: str, rows: Iterable[Row]) -> str:
    cells = [(title, "VALUE", "ORIGIN"), *((row.setting, row.text, row.origin) for row in rows)]
    return aligned(cells, width=screen_width())


def _registry() -> PluginClasses:
    # It brings stevedore and pluggy along, which `flags` and `from-flags` do without.
    from nodewright.plugins.registry import Registry

    return Registry()


def _refuse(flags: Flags) -> None:
    if flags.problems:
        raise ConfigurationError(*flags.problems)


def _warn(warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
