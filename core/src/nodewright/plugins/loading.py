"""Loading: imports a plugin class and checks that it keeps the contract."""

import inspect

from nodewright import __version__
from nodewright.api import API_VERSION, Command, Plugin, PluginConfig, PluginError
from nodewright.plugins.annotations import declared_annotations
from nodewright.plugins.entrypoints import Registration, load
from nodewright.plugins.faults import describe
from nodewright.plugins.hookimpls import implementations


class IncompatiblePluginError(PluginError):
    """A plugin that was written for another version of the contract."""


def load_plugin(registration: Registration) -> type[Plugin]:
    """Import the plugin class of *registration*; raises `PluginError` if it does not keep the contract."""
    plugin = _import(registration)
    if not issubclass(plugin, Plugin):
        raise _wrong_base(registration, Plugin)
    if plugin.api_version != API_VERSION:
        raise IncompatiblePluginError(registration.name, _version_mismatch(registration, plugin.api_version))
    if not issubclass(plugin, registration.kind.bases):
        raise _wrong_base(registration, *registration.kind.bases)
    _refuse_abstract(registration, plugin)
    if not (isinstance(plugin.Config, type) and issubclass(plugin.Config, PluginConfig)):
        raise _broken(registration, "its Config is not a subclass of nodewright.api.PluginConfig")
    try:
        declared_annotations(plugin)
        hooks = implementations(plugin)
    except ValueError as error:
        raise _broken(registration, str(error)) from None
    if registration.kind.name == "hooks" and not hooks:
        raise _broken(registration, "it implements no hook: mark its methods with @hookimpl")
    return plugin


def load_command(registration: Registration) -> type[Command]:
    """Import the command class of *registration*; raises `PluginError` if it does not keep the contract."""
    command = _import(registration)
    if not issubclass(command, Command):
        raise _wrong_base(registration, Command)
    _refuse_abstract(registration, command)
    return command


def _import(registration: Registration) -> type:
    """Import the class that the entry point names."""
    try:
        found = load(registration)
    # SystemExit: a module that ends the program when imported, as scripts do, must not end this one.
    except (Exception, SystemExit) as error:
        advice = f"reinstall {registration.distribution}, or ask its author"
        raise PluginError(
            registration.name, f"{registration} can't be imported: {describe(error)}; {advice}"
        ) from error
    if not isinstance(found, type):
        raise _broken(registration, f"{registration.entry_point.value} is not a class")
    return found


def _wrong_base(registration: Registration, *bases: type) -> PluginError:
    wanted = " or ".join(f"nodewright.api.{base.__name__}" for base in bases)
    return _broken(registration, f"{registration.entry_point.value} is not a subclass of {wanted}")


def _refuse_abstract(registration: Registration, found: type) -> None:
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise _broken(registration, f"{registration.entry_point.value} does not implement {missing}")


def _broken(registration: Registration, problem: str) -> PluginError:
    return PluginError(registration.name, f"{registration} can't be used: {problem}")


def _version_mismatch(registration: Registration, version: object) -> str:
    newer = isinstance(version, int) and version > API_VERSION
    upgrade = "nodewright" if newer else registration.distribution
    return (
        f"{registration} was written for contract version {version}, "
        f"but nodewright {__version__} has version {API_VERSION}: upgrade {upgrade}"
    )
