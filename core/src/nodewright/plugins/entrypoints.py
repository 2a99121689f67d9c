"""Entry points: what the installed distributions register, found and loaded by stevedore."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import NoReturn

from stevedore import ExtensionManager, NamedExtensionManager
from stevedore.extension import error_on_conflict

from nodewright.api import (
    Command,
    DrainRule,
    Estimator,
    Expander,
    PendingPodsProcessor,
    Plugin,
    Prices,
    Provider,
    ScaleDownCandidatesProcessor,
)


@dataclass(frozen=True, kw_only=True)
class PluginKind:
    """A kind of plugin, which distributions register in the namespace ``nodewright.<name>``."""

    #: The plural, as in the namespace.
    name: str
    #: One of them, for messages.
    noun: str
    #: A plugin of this kind is a subclass of one of these.
    bases: tuple[type, ...]

    @property
    def namespace(self) -> str:
        """The entry-point group; stevedore calls it a namespace."""
        return f"nodewright.{self.name}"

    def __str__(self) -> str:
        return self.noun


PLUGIN_KINDS: Mapping[str, PluginKind] = {
    kind.name: kind
    for kind in (
        PluginKind(name="providers", noun="provider", bases=(Provider,)),
        PluginKind(name="expanders", noun="expander", bases=(Expander,)),
        PluginKind(name="estimators", noun="estimator", bases=(Estimator,)),
        PluginKind(name="processors", noun="processor", bases=(PendingPodsProcessor, ScaleDownCandidatesProcessor)),
        PluginKind(name="drain_rules", noun="drain rule", bases=(DrainRule,)),
        PluginKind(name="prices", noun="price model", bases=(Prices,)),
        PluginKind(name="hooks", noun="hook plugin", bases=(Plugin,)),
        PluginKind(name="commands", noun="command", bases=(Command,)),
    )
}


@dataclass(frozen=True, kw_only=True)
class Registration:
    """One entry point: a distribution registers a plugin called *name*."""

    kind: PluginKind
    name: str
    distribution: str
    version: str
    entry_point: EntryPoint

    def __str__(self) -> str:
        return f"{self.kind} {self.name!r} of {self.distribution} {self.version}"


def registrations(kind: PluginKind) -> Sequence[Registration]:
    """Read all entry points of *kind*, by name; two distributions may claim the same one. Imports nothing.

    stevedore's own cache lies in a file of the user's. It forgets which distribution an entry point came from, and
    compares file times so roughly that it can miss a package that was just reinstalled. So the entry points are put
    into stevedore's memory before it looks for them there.
    """
    ExtensionManager.ENTRY_POINT_CACHE[kind.namespace] = list(entry_points(group=kind.namespace))
    found = [
        Registration(
            kind=kind,
            name=entry_point.name,
            distribution=entry_point.dist.name if entry_point.dist else "an unknown distribution",
            version=entry_point.dist.version if entry_point.dist else "",
            entry_point=entry_point,
        )
        for entry_point in _manager(kind).list_entry_points()
    ]
    return sorted(found, key=lambda each: (each.name, each.distribution))


def misspelt_groups() -> Mapping[str, Sequence[EntryPoint]]:
    """Return the entry points of groups that look like Nodewright's and that nothing reads, by group."""
    found = entry_points()
    known = {kind.namespace for kind in PLUGIN_KINDS.values()}
    return {
        group: tuple(found.select(group=group))
        for group in sorted(found.groups)
        if group.startswith("nodewright.") and group not in known
    }


def load(registration: Registration) -> object:
    """Import what *registration* names, and no other plugin.

    Raises whatever the import raises. Each name has a manager of its own, not one for all the names in YAML: stevedore
    lets an AssertionError or SystemExit of one import end the loading of all other names. It is shown this one entry
    point: of two with one name it would import both.
    """
    namespace = registration.kind.namespace
    known = ExtensionManager.ENTRY_POINT_CACHE.get(namespace, [])
    ExtensionManager.ENTRY_POINT_CACHE[namespace] = [registration.entry_point]
    try:
        return _manager(registration.kind, registration.name)[registration.name].plugin
    finally:
        ExtensionManager.ENTRY_POINT_CACHE[namespace] = known


def _manager(kind: PluginKind, *names: str) -> NamedExtensionManager[object]:
    """Return stevedore's manager with the plugins of *names* loaded."""
    return NamedExtensionManager(
        kind.namespace,
        names=names,
        name_order=True,
        on_load_failure_callback=_raise,
        on_missing_entrypoints_callback=None,
        conflict_resolver=error_on_conflict,
    )


def _raise(manager: object, entry_point: EntryPoint, error: BaseException) -> NoReturn:
    raise error
