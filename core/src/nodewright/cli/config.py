"""``nodewright config``: check, show and translate configuration."""

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

from nodewright.api import Command, ConfigurationError, PluginError, Problem
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.main import dispatch
from nodewright.cli.output import TABLE, add_output, output_flags, output_of, written
from nodewright.cli.table import aligned, screen_width
from nodewright.cli.warning import warn
from nodewright.config.document import Loaded, flags_to_yaml, load
from nodewright.config.flag import Flag
from nodewright.config.flags import Flags, parse_flags
from nodewright.config.flags_page import flags_page
from nodewright.config.plugins import PluginClasses
from nodewright.config.providers import LiveGroup, live_groups
from nodewright.config.schema import json_schema
from nodewright.config.show import GroupReport, Row, as_data, group_report, rule_report, setting_rows
from nodewright.config.trial import trial
from nodewright.runtime.clock import SystemClock

_HELP = """\
actions:
  check [FILE] [flags]  report every mistake in a configuration
  show [FILE] [flags]   print every setting with its value and its origin, and
                        the options of every node group
  from-flags [flags]    print the YAML that does the same as these flags
  schema                print the JSON Schema of the file, with the settings
                        of all installed plugins
  flags                 print the page of the documentation about all flags

The flags are those of `nodewright run`: Cluster Autoscaler's, and --config FILE."""

_SHOW = (Flag("group", "list"), Flag("live", "bool"), *output_flags())


class ConfigCommand(Command):
    """Works with configuration, without running the autoscaler."""

    passthrough: ClassVar[bool] = True
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright config check nodewright.yaml": "every mistake, with its file and line",
        "nodewright config show nodewright.yaml --group base": "the options of one group, and where they come from",
        "nodewright config from-flags --expander=price --scale-down-unneeded-time=5m": "the same in YAML",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Describe the usage. `run` parses the words."""
        parser.usage = f"{parser.prog} check|show|from-flags|schema|flags ..."
        parser.epilog = _HELP
        parser.add_argument("action", choices=list(_ACTIONS), metavar="ACTION", help="see below")
        parser.add_argument("file", nargs="?", metavar="FILE", help="check, show: the configuration")
        add_output(parser)
        parser.add_argument("--group", metavar="NAME", help="show: the options of this group only; can be repeated")
        parser.add_argument("--live", metavar="true|false", help="show: whether to ask the providers for their groups")

    def run(self, arguments: Namespace) -> int:
        """Run the action that the first word names, with the other words."""
        match arguments.rest:
            case [action, *words] if action in _ACTIONS and not {"-h", "--help"} & set(words):
                return _ACTIONS[action](words)
            case [action, *_] if action in _ACTIONS:
                return dispatch(["config", "--help"])
            case [action, *_]:
                print(f"nodewright config: {action} is not one of {', '.join(_ACTIONS)}", file=sys.stderr)
            case _:
                print(f"nodewright config: name an action\n\n{_HELP}", file=sys.stderr)
        return 2


def check(words: Sequence[str]) -> int:
    """Print ``ok``, or raise `ConfigurationError` with every mistake. For programs, print the mistakes as data."""
    flags = parse_flags(words, own=output_flags(), words=1)
    form = output_of(flags)
    if form == TABLE:
        loaded = _load(flags)
        _warn(loaded.warnings)
        _try(loaded)
        print("ok")
        return ExitStatus.DONE
    problems: Sequence[Problem] = ()
    warnings: Sequence[Problem] = ()
    try:
        loaded = _load(flags)
        warnings = loaded.warnings
        _try(loaded)
    except ConfigurationError as error:
        problems = error.problems
    told = {"problems": [asdict(each) for each in problems], "warnings": [asdict(each) for each in warnings]}
    print(written({"ok": not problems, **told}, form))
    return ExitStatus.WRONG if problems else ExitStatus.DONE


def _try(loaded: Loaded) -> None:
    """Raise `ConfigurationError` with what keeps plugins from being made."""
    problems = tuple(each.problem for each in trial(loaded, _registry(), SystemClock()))
    if problems:
        raise ConfigurationError(*problems)


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
    form = output_of(flags)
    loaded = _load(flags, complete=False)
    _warn(loaded.warnings)
    rows, groups = setting_rows(loaded), _groups(loaded, flags)
    print(_tables(rows, groups) if form == TABLE else written(as_data(rows, groups), form))
    return ExitStatus.DONE


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
    return aligned(cells, width=screen_width(), header=True)


def _registry() -> PluginClasses:
    # It brings stevedore and pluggy along, which `flags` and `from-flags` do without.
    from nodewright.plugins.registry import Registry

    return Registry()


def _refuse(flags: Flags) -> None:
    if flags.problems:
        raise ConfigurationError(*flags.problems)


def _warn(warnings: Iterable[Problem]) -> None:
    for warning in warnings:
        warn(warning)
