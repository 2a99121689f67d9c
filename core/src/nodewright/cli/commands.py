"""Which commands there are, and where."""

from collections.abc import Sequence
from pkgutil import resolve_name

from nodewright.api import Command, PluginError
from nodewright.plugins.registry import Registry, advice

#: Nodewright's own commands; distributions add theirs in the entry-point group ``nodewright.commands``.
BUILT_IN = {
    "config": "nodewright.cli.config:ConfigCommand",
    "conformance": "nodewright.cli.conformance:ConformanceCommand",
    "decide": "nodewright.cli.decide:DecideCommand",
    "dump": "nodewright.cli.dump:DumpCommand",
    "manifests": "nodewright.cli.manifests:ManifestsCommand",
    "plugins": "nodewright.cli.plugins:PluginsCommand",
    "run": "nodewright.cli.run:RunCommand",
    "shadow": "nodewright.cli.shadow:ShadowCommand",
    "why": "nodewright.cli.why:WhyCommand",
}


def names(registry: Registry) -> Sequence[str]:
    """Every command that there is, sorted; some may fail to load."""
    return sorted({*BUILT_IN, *registry.names("commands")})


def load(name: str, registry: Registry) -> type[Command]:
    """Import the command called *name*, and no other; a built-in one wins. Raises `PluginError` if there is none."""
    if name in BUILT_IN:
        command: type[Command] = resolve_name(BUILT_IN[name])
        return command
    if name not in registry.names("commands"):
        raise PluginError(name, f"no command is called {name!r}: {advice('commands', name, names(registry))}")
    return registry.load_command(name)
