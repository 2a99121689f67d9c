"""The registry: which plugins are installed, and how each of them is; loads them by name."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint

from pydantic import ValidationError

from nodewright.api import Command, Plugin, PluginConfig, PluginError
from nodewright.api.nearest import nearest
from nodewright.plugins.entrypoints import PLUGIN_KINDS, PluginKind, Registration, misspelt_groups, registrations
from nodewright.plugins.error_text import describe
from nodewright.plugins.loading import IncompatiblePluginError, load_command, load_plugin
from nodewright.plugins.starting import starting

#: Distributions that are known to register a plugin, by kind and name.
DISTRIBUTIONS = {
    ("commands", "demo"): "nodewright-fake",
    ("commands", "world"): "nodewright-fake",
    ("expanders", "grpc"): "nodewright-grpc",
    ("expanders", "least-cost"): "nodewright-least-cost",
    ("providers", "aws"): "nodewright-aws",
    ("providers", "fake"): "nodewright-fake",
    ("providers", "gce"): "nodewright-gce",
}
#: Plugins that are still to be written. No package is named for them: anyone might take its name.
COMING = frozenset({("providers", "azure"), ("providers", "clusterapi")})


class PluginState(StrEnum):
    """How a plugin is."""

    #: It can be loaded.
    READY = "ready"
    #: It can be loaded, and the configuration names it.
    IN_USE = "in use"
    #: It can't be loaded, or not with the configuration given.
    FAILED = "failed"
    #: It can be loaded, but its name stands for another one.
    SHADOWED = "shadowed"
    #: It was written for another version of the contract.
    INCOMPATIBLE = "incompatible"
    #: The configuration names it, and no distribution registers it.
    MISSING = "missing"


@dataclass(frozen=True, kw_only=True)
class PluginStatus:
    """How one plugin is that a distribution registers, or that a configuration names and no distribution has."""

    kind: str
    name: str
    #: Empty if it is missing, and so is the version.
    distribution: str
    version: str
    state: PluginState
    #: What is wrong and what to do, if it is neither ready nor in use.
    reason: str = ""
    #: The first line of its docstring; empty if it can't be loaded.
    description: str = ""
    #: Whether the configuration has it run in a process of its own.
    isolated: bool = False


class Registry:
    """The plugins of all installed distributions. Loading one name imports no other plugin.

    Kinds are called like their entry-point groups: providers, expanders, estimators, processors, drain_rules, prices,
    hooks, commands. Entry points are read when first asked for, and once: a registry does not see what is installed
    later.
    """

    def __init__(self) -> None:
        self._registrations = cache(registrations)

    def names(self, kind: str) -> Sequence[str]:
        """Names that are registered for *kind*, sorted. Imports nothing, so that some may fail to load."""
        return tuple(dict.fromkeys(each.name for each in self._registrations(PLUGIN_KINDS[kind])))

    def load(self, kind: str, name: str) -> type[Plugin]:
        """Import the class that is registered as *name*.

        Raises `PluginError` that says what to do if there is none or more than one, if it can't be imported, or if it
        does not keep the contract.
        """
        return load_plugin(self._find(PLUGIN_KINDS[kind], name))

    def load_command(self, name: str) -> type[Command]:
        """Import the class of the command that is registered as *name*; raises `PluginError` as `load` does."""
        return load_command(self._find(PLUGIN_KINDS["commands"], name))

    def configure(self, kind: str, name: str, config: Mapping[str, object]) -> PluginConfig:
        """Return *config*, as in YAML, as the plugin's own settings.

        Raises `PluginError` as `load` does, and if the plugin's `Config` refuses it.
        """
        plugin = self.load(kind, name)
        try:
            with starting(name, "config"):
                return plugin.Config.model_validate(dict(config))
        except ValidationError as error:
            mistakes = "; ".join(_mistake(each["loc"], each["msg"]) for each in error.errors())
            problem = f"its configuration is not valid: {mistakes}"
        except Exception as error:
            problem = f"its configuration can't be checked: {describe(error)}"
        raise PluginError(name, f"{self._find(PLUGIN_KINDS[kind], name)} can't be used: {problem}")

    def create(self, kind: str, name: str, config: Mapping[str, object], *extra: object) -> Plugin:
        """Make a plugin from its configuration, and *extra* arguments for its kind (providers: a `ProviderContext`).

        Raises `PluginError` as `configure` does, and if the constructor raises anything.
        """
        settings = self.configure(kind, name, config)
        plugin = self.load(kind, name)
        try:
            with starting(name, "load"):
                return plugin(settings, *extra)
        except Exception as error:
            problem = f"{self._find(PLUGIN_KINDS[kind], name)} can't be started: {describe(error)}"
            raise PluginError(name, problem) from error

    def create_apart(
        self,
        kind: str,
        name: str,
        config: Mapping[str, object],
        *extra: object,
        memory: int | None = None,
        deadline: float | None = None,
        note: Callable[[str, str, Exception], None] = lambda plugin, where, error: None,
    ) -> Plugin:
        """Make a plugin as `create` does, in a process of its own. What it gets is installed now, not before.

        The process may take *memory* bytes, and *deadline* seconds for each call. *note* notes faults that the core
        would not know to be any.
        """
        # Imported where it is needed: commands that make no plugin need nothing of it.
        from nodewright.plugins.isolation import Limits, create_isolated

        limits = Limits(memory=memory, deadline=deadline)
        try:
            return create_isolated(_create, kind, name, config, *extra, limits=limits, note=note)
        except PluginError:
            raise
        except Exception as error:
            raise PluginError(name, f"{name} can't be started in a process of its own: {describe(error)}") from error

    def apart(self, plugin: str, function: Callable[..., object], *arguments: object) -> object:
        """Return what *function* returns for a registry and *arguments* in a process that may import *plugin*.

        The function has to be one of a module, and its result a plain value. Raises `PluginError` if the process ends
        before that, and what the function raises.
        """
        from nodewright.plugins.isolation import ProcessError, in_child

        try:
            return in_child(plugin, _apply, function, arguments)
        except ProcessError as error:
            raise PluginError(plugin, f"{plugin} can't be loaded in a process of its own: {error}") from error

    def statuses(self) -> Sequence[PluginStatus]:
        """Every plugin that any distribution registers, in the order of kinds, then by name.

        Imports all of them to see how they are.
        """
        known = [self._examine(each) for kind in PLUGIN_KINDS.values() for each in self._registrations(kind)]
        return [*known, *(_misspelt(group, each) for group, found in misspelt_groups().items() for each in found)]

    def _find(self, kind: PluginKind, name: str) -> Registration:
        distribution, _, own = name.rpartition("/")
        claims = [
            each
            for each in self._registrations(kind)
            if each.name == own and (not distribution or _normal(each.distribution) == _normal(distribution))
        ]
        if not claims:
            raise PluginError(name, f"no {kind} is called {name!r}: {self._advice(kind, name)}")
        # What comes with Nodewright keeps its name, whatever is installed beside it.
        built_in = next((each for each in claims if each.distribution == "nodewright"), None)
        if built_in is None and len(claims) > 1:
            owners = " and by ".join(f"{each.distribution} {each.version}" for each in claims)
            raise PluginError(
                name,
                f"{kind} {name!r} is registered by {owners}: uninstall all but one of them, "
                f"or name the one that is meant, such as {claims[0].distribution}/{name}",
            )
        return built_in or claims[0]

    def _advice(self, kind: PluginKind, name: str) -> str:
        """Say what to do about *name*, which none is called."""
        for group, registered in misspelt_groups().items():
            if meant := next((each for each in registered if each.name == name), None):
                owner = meant.dist.name if meant.dist else "a distribution"
                return f"{owner} registers it in the entry-point group {group}: it has to be {kind.namespace}"
        for other in PLUGIN_KINDS.values():
            if other is not kind and name in self.names(other.name):
                return f"it is one of the {other.name.replace('_', ' ')}, which stand elsewhere in the configuration"
        return advice(kind.name, name, self.names(kind.name))

    def _examine(self, registration: Registration) -> PluginStatus:
        state, reason, description = PluginState.READY, "", ""
        try:
            description = self._describe(registration)
            if (used := self._find(registration.kind, registration.name)) != registration:
                state = PluginState.SHADOWED
                reason = (
                    f"{used.distribution} has one of this name, which is used: "
                    f"write {registration.distribution}/{registration.name} to use this one"
                )
        except PluginError as error:
            state = PluginState.INCOMPATIBLE if isinstance(error, IncompatiblePluginError) else PluginState.FAILED
            reason = str(error).removeprefix(f"{registration} ")
        return PluginStatus(
            kind=registration.kind.name,
            name=registration.name,
            distribution=registration.distribution,
            version=registration.version,
            state=state,
            reason=reason,
            description=description,
        )

    def _describe(self, registration: Registration) -> str:
        """Load the plugin and return what it is, in one line."""
        if registration.kind.name == "commands":
            return load_command(registration).summary
        plugin = load_plugin(registration)
        return (plugin.__doc__ or "").strip().partition("\n")[0].replace("``", "")


def _create(kind: str, name: str, config: Mapping[str, object], *extra: object) -> Plugin:
    return Registry().create(kind, name, config, *extra)


def _apply(function: Callable[..., object], arguments: tuple[object, ...]) -> object:
    return function(Registry(), *arguments)


def _misspelt(group: str, entry_point: EntryPoint) -> PluginStatus:
    """Return how a plugin is that is registered in an entry-point *group* which nothing reads."""
    kind = group.removeprefix("nodewright.")
    near = nearest(kind, list(PLUGIN_KINDS))
    meant = f"did you mean nodewright.{near}?" if near else f"there is {', '.join(PLUGIN_KINDS)}"
    return PluginStatus(
        kind=kind,
        name=entry_point.name,
        distribution=entry_point.dist.name if entry_point.dist else "",
        version=entry_point.dist.version if entry_point.dist else "",
        state=PluginState.FAILED,
        reason=f"there are no plugins of kind {group}: {meant}",
    )


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def advice(kind: str, name: str, names: Sequence[str]) -> str:
    """Say what to do about *name*, which is none of *names*, those installed of *kind* (a key of `PLUGIN_KINDS`)."""
    if distribution := DISTRIBUTIONS.get((kind, name)):
        return f"install it {_from_sources(distribution)}"
    if (kind, name) in COMING:
        return "it is still to come; until then, you would have to write it"
    elsewhere = [known for of_kind, known in (*DISTRIBUTIONS, *COMING) if of_kind == kind]
    near = nearest(name, [*names, *elsewhere])
    if near in names:
        return f"did you mean {near!r}?"
    if (kind, near) in COMING:
        return f"did you mean {near!r}? It is still to come"
    if near:
        return f"did you mean {near!r}? Install it {_from_sources(DISTRIBUTIONS[kind, near])}"
    return f"there is {', '.join(names)}" if names else "none is installed"


def _from_sources(distribution: str) -> str:
    # No index has it yet, and anyone might take its name there.
    return f"in Nodewright's folder with: pip install ./plugins/{distribution.removeprefix('nodewright-')}"


def _mistake(location: tuple[str | int, ...], message: str) -> str:
    path = ".".join(str(part) for part in location)
    return f"{path}: {message}" if path else message
