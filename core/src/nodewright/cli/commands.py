"""The commands: which ones there are, where their code is, and what they do in one line."""

import ast
from collections.abc import Sequence
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from nodewright.api.command import Command


class BuiltIn(NamedTuple):
    """A command of Nodewright's own."""

    #: Module and class, as in an entry point. Imported when the command is run, and not before.
    home: str
    #: One line for ``nodewright --help``.
    summary: str
    #: Whether it takes the flags of `run` as well.
    takes_flags: bool = False


#: Nodewright's own commands. Distributions add theirs in the entry-point group ``nodewright.commands``.
BUILT_IN = {
    "completion": BuiltIn("nodewright.cli.completion:CompletionCommand", "let the TAB key complete commands"),
    "config": BuiltIn(
        "nodewright.cli.config:ConfigCommand", "check, show and translate configuration", takes_flags=True
    ),
    "conformance": BuiltIn(
        "nodewright.cli.conformance:ConformanceCommand", "test a provider against the contract, in a real account"
    ),
    "decide": BuiltIn("nodewright.cli.decide:DecideCommand", "decide about a picture of a cluster, kept in a file"),
    "dump": BuiltIn(
        "nodewright.cli.dump:DumpCommand", "write a picture of the live cluster, to try policies on", takes_flags=True
    ),
    "manifests": BuiltIn(
        "nodewright.cli.manifests:ManifestsCommand", "print the objects that run the autoscaler in a cluster"
    ),
    "migrate": BuiltIn(
        "nodewright.cli.migrate:MigrateCommand", "turn a set-up of Cluster Autoscaler into values for our chart"
    ),
    "new": BuiltIn("nodewright.cli.new:NewCommand", "write a plugin that works, to begin your own with"),
    "plugins": BuiltIn(
        "nodewright.cli.plugins:PluginsCommand", "show every plugin: where it comes from, and whether it works"
    ),
    "run": BuiltIn("nodewright.cli.run:RunCommand", "run the autoscaler", takes_flags=True),
    "shadow": BuiltIn(
        "nodewright.cli.shadow:ShadowCommand", "sum up how a dry run differs from the autoscaler that acts"
    ),
    "why": BuiltIn(
        "nodewright.cli.why:WhyCommand", "explain what would happen to a pod, a node or a group now", takes_flags=True
    ),
}


def names() -> Sequence[str]:
    """Return the name of every command, sorted. Imports none of them, so some may fail to load."""
    return sorted({*BUILT_IN, *(each.name for each in _entry_points())})


def load(name: str) -> "type[Command]":
    """Import the command called *name*, and no other; a built-in one wins.

    Raises `PluginError` if there is no such command, or if it can't be used.
    """
    if name in BUILT_IN:
        command: type[Command] = resolve_name(BUILT_IN[name].home)
        return command
    from nodewright.api.errors import PluginError
    from nodewright.plugins.registry import Registry, advice

    registry = Registry()
    if name not in registry.names("commands"):
        raise PluginError(name, f"no command is called {name!r}: {advice('commands', name, names())}")
    return registry.load_command(name)


def summary(name: str) -> str:
    """Return what the command called *name* does, in one line.

    The line of a plugin's command is read from its source where possible: the overview of all commands must not wait
    for every plugin to be imported. Otherwise the command is imported, and this raises as `load` does.
    """
    if name in BUILT_IN:
        return BUILT_IN[name].summary
    claims = [each for each in _entry_points() if each.name == name]
    written = _written_summary(claims[0]) if len(claims) == 1 else None
    return load(name).summary if written is None else written


def _entry_points() -> Sequence["EntryPoint"]:
    # A third of what the overview costs; a command of ours does without it.
    from importlib.metadata import entry_points

    return tuple(entry_points(group="nodewright.commands"))


def _written_summary(entry_point: "EntryPoint") -> str | None:
    """Return the text that the source of a command assigns to ``summary``; None if it does not say so plainly."""
    try:
        spec = find_spec(entry_point.module)
        source = spec.loader.get_source(spec.name) if spec and spec.loader else None  # type: ignore[attr-defined]
        module = ast.parse(source or "")
    except Exception:  # a package can do anything while it is imported; `load` says what is wrong
        return None
    for found in module.body:
        if isinstance(found, ast.ClassDef) and found.name == entry_point.attr:
            return next(filter(None, map(_assigned_summary, found.body)), None)
    return None


def _assigned_summary(statement: ast.stmt) -> str | None:
    match statement:
        case (
            ast.Assign(targets=[ast.Name(id="summary")], value=ast.Constant(value=str(text)))
            | ast.AnnAssign(target=ast.Name(id="summary"), value=ast.Constant(value=str(text)))
        ):
            return text
    return None
