"""The registry: which implementations there are, loaded by name."""

from collections.abc import Mapping, Sequence
from functools import cache

from pydantic import ValidationError

from nodewright.api import Command, Plugin, PluginConfig, PluginError
from nodewright.plugins.entrypoints import KINDS, Kind, Registration, registrations
from nodewright.plugins.faults import describe
from nodewright.plugins.known import Known, State
from nodewright.plugins.loading import IncompatiblePluginError, load_command, load_plugin
from nodewright.plugins.missing import advice


class Registry:
    """All that the installed distributions have. Loading one name imports no other plugin.

    Kinds are called like their entry-point groups: providers, expanders, estimators, processors, drain_rules, prices,
    hooks, commands. Entry points are read when first asked for, and once: a registry does not see what is installed
    later.
    """

    def __init__(self) -> None:
        self._registrations = cache(registrations)

    def names(self, kind: str) -> Sequence[str]:
        """Names that are registered for *kind*, sorted. Imports nothing, so that some may fail to load."""
        return tuple(dict.fromkeys(each.name for each in self._registrations(KINDS[kind])))

    def load(self, kind: str, name: str) -> type[Plugin]:
        """Import the class that is registered as *name*.

        Raises `PluginError` that says what to do if there is none or more than one, if it can't be imported, or if it
        does not keep the contract.
        """
        return load_plugin(self._find(KINDS[kind], name))

    def load_command(self, name: str) -> type[Command]:
        """Import the class of the command that is registered as *name*; raises `PluginError` as `load` does."""
        return load_command(self._find(KINDS["commands"], name))

    def configure(self, kind: str, name: str, config: Mapping[str, object]) -> PluginConfig:
        """Return *config*, as in YAML, as the plugin's own settings.

        Raises `PluginError` as `load` does, and if the plugin's `Config` refuses it.
        """
        plugin = self.load(kind, name)
        try:
            return plugin.Config.model_validate(dict(config))
        except ValidationError as error:
            mistakes = "; ".join(_mistake(each["loc"], each["msg"]) for each in error.errors())
            problem = f"its configuration is not valid: {mistakes}"
        except Exception as error:
            problem = f"its configuration can't be checked: {describe(error)}"
        raise PluginError(name, f"{self._find(KINDS[kind], name)} can't be used: {problem}")

    def create(self, kind: str, name: str, config: Mapping[str, object], *extra: object) -> Plugin:
        """Make a plugin from its configuration and from what else its kind is given (providers: a `ProviderContext`).

        Raises `PluginError` as `configure` does, and if the constructor raises anything.
        """
        settings = self.configure(kind, name, config)
        try:
            return self.load(kind, name)(settings, *extra)
        except Exception as error:
            problem = f"{self._find(KINDS[kind], name)} can't be started: {describe(error)}"
            raise PluginError(name, problem) from error

    def known(self) -> Sequence[Known]:
        """Every implementation that any distribution registers, in the order of kinds, then by name.

        Imports all of them to see how they are.
        """
        return [self._examine(each) for kind in KINDS.values() for each in self._registrations(kind)]

    def _find(self, kind: Kind, name: str) -> Registration:
        claims = [each for each in self._registrations(kind) if each.name == name]
        if not claims:
            raise PluginError(name, f"no {kind} is called {name!r}: {advice(kind.name, name, self.names(kind.name))}")
        if len(claims) > 1:
            owners = " and by ".join(f"{each.distribution} {each.version}" for each in claims)
            raise PluginError(name, f"{kind} {name!r} is registered by {owners}: uninstall all but one of them")
        return claims[0]

    def _examine(self, registration: Registration) -> Known:
        state, reason, description = State.READY, "", ""
        try:
            description = self._describe(registration)
        except PluginError as error:
            state = State.INCOMPATIBLE if isinstance(error, IncompatiblePluginError) else State.FAILED
            reason = str(error).removeprefix(f"{registration} ")
        return Known(
            kind=registration.kind.name,
            name=registration.name,
            distribution=registration.distribution,
            version=registration.version,
            state=state,
            reason=reason,
            description=description,
        )

    def _describe(self, registration: Registration) -> str:
        """Load the implementation and return what it says of itself in one line."""
        if registration.kind.name == "commands":
            return self.load_command(registration.name).summary
        plugin = self.load(registration.kind.name, registration.name)
        return (plugin.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _mistake(location: tuple[str | int, ...], message: str) -> str:
    path = ".".join(str(part) for part in location)
    return f"{path}: {message}" if path else message
