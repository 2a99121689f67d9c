"""``nodewright plugins``: what is installed, and how it is."""

from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import ClassVar

from nodewright.api import Command, ConfigurationError
from nodewright.cli.commands import BUILT_IN
from nodewright.cli.exit_status import ExitStatus
from nodewright.cli.output import TABLE, add_output, written
from nodewright.cli.style import Style
from nodewright.cli.table import aligned, screen_width
from nodewright.plugins.registry import PluginState, PluginStatus, Registry

HEADER = ("KIND", "NAME", "DISTRIBUTION", "VERSION", "STATE", "WHAT IT IS, OR WHAT IS WRONG")

_STYLES = {
    str(state): Style.GREEN if state in (PluginState.READY, PluginState.IN_USE) else Style.RED for state in PluginState
}

#: Kind and name of a plugin.
Key = tuple[str, str]


class PluginsCommand(Command):
    """Shows every plugin that any installed distribution registers."""

    summary = "show every plugin: where it comes from, and whether it works"
    examples: ClassVar[Mapping[str, str]] = {
        "nodewright plugins": "what is installed",
        "nodewright plugins --config nodewright.yaml": "what of it a configuration uses, and whether that works",
    }

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare configuration and output format."""
        parser.add_argument(
            "--config", type=Path, metavar="FILE", help="show which of them FILE uses, and whether it can"
        )
        add_output(parser)

    def run(self, arguments: Namespace) -> int:
        """Print them all; return 2 if there is a configuration and something that it names can't be used."""
        registry = Registry()
        named: Mapping[Key, str] = {}
        isolated: Container[Key] = ()
        wrong = None
        if arguments.config:
            try:
                named, isolated = problems_by_name(arguments.config, registry), isolated_plugins(arguments.config)
            except ConfigurationError as error:
                if not arguments.config.is_file():
                    raise
                # What is installed helps to mend it.
                wrong = error
        statuses = with_use([_shadowed(each) for each in registry.statuses()], named)
        statuses = [replace(each, isolated=_key(each, named) in isolated) for each in statuses]
        if arguments.output == TABLE:
            print(f"{as_table(statuses, width=screen_width())}\n\n{_summary(statuses)}")
        else:
            print(written([asdict(each) for each in statuses], arguments.output))
        if wrong is not None:
            raise wrong
        return ExitStatus.WRONG if any(named.values()) else ExitStatus.DONE


def problems_by_name(file: Path, registry: Registry) -> Mapping[Key, str]:
    """Return every plugin that the configuration in *file* names, with what is wrong with it; empty if nothing is.

    Raises `ConfigurationError` if *file* is not a valid configuration.
    """
    # Imported here because listing plugins needs no model of the configuration.
    from nodewright.config.document import load
    from nodewright.config.paths import all_settings, dotted
    from nodewright.config.plugins import check_references, slot_of
    from nodewright.config.trial import trial
    from nodewright.runtime.clock import SystemClock

    loaded = load(file)
    problems: dict[Key, list[str]] = {}
    for setting in all_settings():
        if slot := slot_of(setting):
            references = setting.of(loaded.settings)
            for reference in references if isinstance(references, tuple) else (references,):
                # Named by the setting, not by its place in a list: the same plugin may stand there more than once.
                mistakes = check_references([(slot, replace(reference, path=setting.path))], registry)
                problems.setdefault((slot.kind, reference.name), []).extend(
                    f"{dotted(mistake.path)}: {mistake.message}" for mistake in mistakes
                )
    for refusal in trial(loaded, registry, SystemClock()):
        found = problems[refusal.kind, refusal.name]
        # What can't be loaded, or not with its settings, can't be made either, and the reason is known.
        if not found:
            found.append(refusal.problem.message)
    return {key: "; ".join(dict.fromkeys(found)) for key, found in problems.items()}


def isolated_plugins(file: Path) -> Container[Key]:
    """Return the plugins that the configuration in *file* has run in processes of their own."""
    from nodewright.config.document import load
    from nodewright.config.trial import references

    return {(kind, each.name) for kind, _, each in references(load(file).settings) if each.isolation is not None}


def with_use(statuses: Sequence[PluginStatus], named: Mapping[Key, str]) -> Sequence[PluginStatus]:
    """Return *statuses* with what a configuration says; plugins that are missing come last."""
    keys = [_key(each, named) for each in statuses]
    found = [_in_use(each, named[key]) if key in named else each for each, key in zip(statuses, keys, strict=True)]
    missing = named.keys() - set(keys)
    return [*found, *(_missing(key, named[key]) for key in sorted(missing))]


def as_table(statuses: Sequence[PluginStatus], *, width: int | None = None) -> str:
    """Return one line for each plugin, or as many as its last column needs to stay within *width*."""
    rows = [(each.kind, each.name, each.distribution, each.version, str(each.state), _told(each)) for each in statuses]
    return aligned([HEADER, *rows], width=width, drop=(3, 2), header=True, styles=_STYLES)


def _summary(statuses: Sequence[PluginStatus]) -> str:
    counts = Counter(each.state for each in statuses)
    return f"{len(statuses)} plugins: {', '.join(f'{counts[state]} {state}' for state in PluginState if counts[state])}"


def _told(status: PluginStatus) -> str:
    where = " (in a process of its own)" if status.isolated else ""
    return status.reason or f"{status.description}{where}"


def _key(status: PluginStatus, named: Container[Key]) -> Key:
    """Return the key by which a configuration names the plugin, with its distribution if need be."""
    full = (status.kind, f"{status.distribution}/{status.name}")
    return full if full in named or status.state == PluginState.SHADOWED else (status.kind, status.name)


def _in_use(status: PluginStatus, problem: str) -> PluginStatus:
    if status.state not in (PluginState.READY, PluginState.SHADOWED):
        return status
    if problem:
        return replace(status, state=PluginState.FAILED, reason=problem)
    return replace(status, state=PluginState.IN_USE, reason="")


def _missing(key: Key, reason: str) -> PluginStatus:
    kind, name = key
    return PluginStatus(kind=kind, name=name, distribution="", version="", state=PluginState.MISSING, reason=reason)


def _shadowed(status: PluginStatus) -> PluginStatus:
    if status.kind == "commands" and status.name in BUILT_IN:
        reason = "not used: nodewright itself has a command of this name"
        return replace(status, state=PluginState.FAILED, reason=reason)
    return status
