"""Loading: imports a plugin class and checks that it keeps the contract."""

import inspect

from packaging.requirements import InvalidRequirement, Requirement

from nodewright import __version__
from nodewright.api import API_VERSION, Command, Plugin, PluginConfig, PluginError
from nodewright.api.plugin import RESERVED_SETTINGS
from nodewright.plugins.annotations import declared_annotations
from nodewright.plugins.entrypoints import PluginKind, Registration, load
from nodewright.plugins.error_text import describe
from nodewright.plugins.hookimpls import implementations
from nodewright.plugins.starting import starting

#: Operators of requirements that exclude later releases.
_BOUNDS = frozenset({"<", "<=", "==", "===", "~="})


class IncompatiblePluginError(PluginError):
    """A plugin that was written for another version of the contract."""


def load_plugin(registration: Registration) -> type[Plugin]:
    """Import the plugin class of *registration*; raises `PluginError` if it does not keep the contract."""
    plugin = _import(registration)
    if not issubclass(plugin, Plugin):
        raise _wrong_base(registration, Plugin)
    if mismatch := _mismatch(registration, plugin):
        raise IncompatiblePluginError(registration.name, f"{registration} {mismatch}")
    if not issubclass(plugin, registration.kind.bases):
        raise _wrong_base(registration, *registration.kind.bases)
    _refuse_abstract(registration, plugin)
    if not (isinstance(plugin.Config, type) and issubclass(plugin.Config, PluginConfig)):
        raise _broken(registration, "its Config is not a subclass of nodewright.api.PluginConfig")
    written = {name for key, field in plugin.Config.model_fields.items() for name in (key, field.alias)}
    if taken := RESERVED_SETTINGS & written:
        raise _broken(registration, f"its setting {min(taken)} has a name that Nodewright keeps for itself: rename it")
    if misfit := _misfit(registration.kind, plugin):
        raise _broken(registration, misfit)
    try:
        declared_annotations(plugin)
        hooks = implementations(plugin)
    except ValueError as error:
        raise _broken(registration, str(error)) from None
    if registration.kind.name == "hooks" and not hooks and plugin.collectors is Plugin.collectors:
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
        with starting(registration.name, "import"):
            found = load(registration)
    except Exception as error:
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


def _misfit(kind: PluginKind, plugin: type[Plugin]) -> str:
    """Say which method of *plugin* can't be called as the core calls it; empty if all can."""
    base = next(each for each in kind.bases if issubclass(plugin, each))
    for name, method in inspect.getmembers(base, inspect.isfunction):
        own = getattr(plugin, name)
        if not inspect.isfunction(own) or own is method:
            continue
        wanted = inspect.signature(method).parameters
        try:
            inspect.signature(own).bind(*wanted)
        except TypeError:
            taken = ", ".join(inspect.signature(own).parameters) or "nothing"
            return f"{plugin.__name__}.{name} takes {taken}, but has to take {', '.join(wanted)}"
    return ""


def _broken(registration: Registration, problem: str) -> PluginError:
    return PluginError(registration.name, f"{registration} can't be used: {problem}")


def _mismatch(registration: Registration, plugin: type[Plugin]) -> str:
    """Say why *plugin* does not go with this version of the contract; empty if it does.

    The version stands in the class or in a base of the same package: Nodewright's own says nothing.
    Where it does not stand, the releases of Nodewright count that the distribution requires.
    """
    package = plugin.__module__.partition(".")[0]
    bases = [each for each in plugin.__mro__ if each.__module__.partition(".")[0] == package]
    stated = next((vars(each)["api_version"] for each in bases if "api_version" in vars(each)), None)
    if stated is not None:
        return "" if stated == API_VERSION else _written_for(registration, stated)
    wanted = _required(registration)
    if wanted is None:
        return (
            "does not say which version of the contract it was written for: "
            f"write api_version = {API_VERSION} in class {plugin.__name__}, "
            "or require nodewright with an upper bound"
        )
    if wanted.specifier.contains(__version__, prereleases=True):
        return ""
    return (
        f"was written for nodewright{wanted.specifier}, but this is {__version__}: upgrade {registration.distribution}"
    )


def _required(registration: Registration) -> Requirement | None:
    """Return the releases of Nodewright that the distribution requires; None if it sets no upper bound."""
    distribution = registration.entry_point.dist
    for line in (distribution.requires or ()) if distribution else ():
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        bounded = any(each.operator in _BOUNDS for each in requirement.specifier)
        if requirement.name.lower() == "nodewright" and bounded:
            return requirement
    return None


def _written_for(registration: Registration, version: object) -> str:
    newer = isinstance(version, int) and version > API_VERSION
    upgrade = "nodewright" if newer else registration.distribution
    return (
        f"was written for contract version {version}, "
        f"but nodewright {__version__} has version {API_VERSION}: upgrade {upgrade}"
    )
