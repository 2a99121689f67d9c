"""Plugins that a configuration names: finds the references to them and checks their settings."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Protocol, cast

from nodewright.api.errors import PluginError
from nodewright.api.plugin import Plugin
from nodewright.config.paths import Path, Setting, all_settings, dotted, step
from nodewright.config.reference import Reference, Slot
from nodewright.config.tree import Tree
from nodewright.config.validation import Mistake, validate
from nodewright.config.values import split_commas

#: Notes a fault of a plugin, in a place.
Note = Callable[[str, str, Exception], None]


class PluginClasses(Protocol):
    """Where plugin classes come from: `nodewright.plugins.registry.Registry`."""

    def names(self, kind: str) -> Sequence[str]:
        """The names that installed distributions registered for *kind*."""
        ...

    def create_apart(
        self,
        kind: str,
        name: str,
        config: Mapping[str, object],
        *extra: object,
        memory: int | None,
        deadline: float | None,
        note: Note,
    ) -> Plugin:
        """Make a plugin as `create` does, in a process of its own, without importing it here."""
        ...

    def apart(self, plugin: str, function: Callable[..., object], *arguments: object) -> object:
        """Return what *function* returns for classes and *arguments* in a process that may import *plugin*.

        Raises `PluginError` if that process ends, and what the function raises.
        """
        ...

    def load(self, kind: str, name: str) -> type[Plugin]:
        """Return the class; raises `PluginError` if there is none or it can't be used."""
        ...

    def create(self, kind: str, name: str, config: Mapping[str, object], *extra: object) -> Plugin:
        """Return a plugin made from its settings; raises `PluginError`, from what its constructor raised."""
        ...


def slot_of(setting: Setting) -> Slot | None:
    """Return the slot that *setting* is, None if it takes no plugins."""
    return next((each for each in setting.field.metadata if isinstance(each, Slot)), None)


def read_references(tree: Tree) -> tuple[dict[str, Any], list[tuple[Slot, Reference]]]:
    """Return a copy of the data of *tree* with `Reference`s in it, and all of these with their slots.

    What can't be read as a reference is left as it is, for the model to complain about.
    """
    data = copy.deepcopy(tree.data)
    found: list[tuple[Slot, Reference]] = []
    for setting in all_settings():
        slot = slot_of(setting)
        if slot is None:
            continue
        items: list[Any] = []
        for path, item in _items(setting, tree):
            try:
                reference = Reference.read(item, path=path)
            except ValueError:
                items.append(item)
            else:
                items.append(reference)
                found.append((slot, reference))
        if items:
            section = reduce(step, setting.path[:-1], data)
            section[setting.path[-1]] = items[0] if setting.field.annotation is Reference else items
    return data, found


def _items(setting: Setting, tree: Tree) -> list[tuple[Path, object]]:
    value = tree.get(setting.path)
    if value is None:
        return []
    if setting.field.annotation is Reference:
        return [(setting.path, value)]
    if isinstance(value, list):
        return [((*setting.path, index), item) for index, item in enumerate(value)]
    return [(setting.path, name) for name in split_commas(value)] if isinstance(value, str) else []


def check_references(references: Iterable[tuple[Slot, Reference]], classes: PluginClasses) -> Iterator[Mistake]:
    """Yield what is wrong with *references* in their slots: the name, the kind of plugin and its settings."""
    for slot, reference in references:
        name = reference.name
        if reference.isolation is not None:
            yield from _check_apart(slot, reference, classes)
            continue
        try:
            plugin = classes.load(slot.kind, name)
        except PluginError as error:
            installed = name in classes.names(slot.kind)
            yield Mistake(path=reference.path, message=str(error), of_plugin=installed)
            continue
        if not issubclass(plugin, slot.base):
            yield Mistake(path=reference.path, message=_misplaced(plugin, name, slot))
        else:
            yield from _check_settings(plugin, reference)


def make(
    classes: PluginClasses,
    kind: str,
    reference: Reference,
    *extra: object,
    note: Note = lambda plugin, where, error: None,
) -> Plugin:
    """Make the plugin of *reference* where that wants it: here, or in a process of its own. Raises `PluginError`."""
    isolation = reference.isolation
    if isolation is None:
        return classes.create(kind, reference.name, reference.config, *extra)
    deadline = None if isolation.deadline is None else isolation.deadline.total_seconds()
    return classes.create_apart(
        kind, reference.name, reference.config, *extra, memory=isolation.memory, deadline=deadline, note=note
    )


def _check_apart(slot: Slot, reference: Reference, classes: PluginClasses) -> Iterator[Mistake]:
    """Check *reference* in another process: only that may import the plugin."""
    try:
        found = classes.apart(reference.name, check_here, slot, replace(reference, isolation=None))
    except Exception as error:  # the plugin's process may say anything
        yield Mistake(path=reference.path, message=str(error) or type(error).__name__, of_plugin=True)
        return
    for path, message, of_plugin in cast("list[tuple[Path, str, bool]]", found):
        yield Mistake(path=path, message=message, of_plugin=of_plugin)


def check_here(classes: PluginClasses, slot: Slot, reference: Reference) -> list[tuple[Path, str, bool]]:
    """Return what is wrong with *reference*, as plain values: path, message, and whether it is the plugin's alone."""
    return [(each.path, each.message, each.of_plugin) for each in check_references([(slot, reference)], classes)]


def _check_settings(plugin: type[Plugin], reference: Reference) -> Iterator[Mistake]:
    path = (*reference.path, reference.name)
    try:
        _, mistakes = validate(plugin.Config, reference.config)
    except (Exception, SystemExit) as error:  # a validator of the plugin may raise anything
        message = f"its settings can't be checked: {type(error).__name__}: {error}"
        yield Mistake(path=path, message=message, of_plugin=True)
        return
    for mistake in mistakes:
        # If nothing is written below the name, there is no other place than the name.
        its_setting = f"its setting {dotted(mistake.path)} " if mistake.path else ""
        its = Mistake(path=reference.path, message=its_setting + mistake.message)
        yield replace(mistake.below(path) if reference.config else its, of_plugin=True)


def _misplaced(plugin: type[Plugin], name: str, slot: Slot) -> str:
    for setting in all_settings():
        other = slot_of(setting)
        if other is not None and other.kind == slot.kind and issubclass(plugin, other.base):
            return f"{name} is a step of {setting.name}, write it there"
    return f"{name} is no {slot.base.__name__}, which is needed here"
