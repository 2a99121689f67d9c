"""Plugins that a configuration names: finding them in it, and holding their settings against them."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Protocol

from nodewright.api.errors import PluginError
from nodewright.api.plugin import Plugin
from nodewright.api.version import API_VERSION
from nodewright.config.mention import Mention, Slot
from nodewright.config.paths import Path, Setting, all_settings, dotted, step
from nodewright.config.tree import Tree
from nodewright.config.validation import Mistake, validate
from nodewright.config.values import split_commas


class PluginClasses(Protocol):
    """Where plugin classes come from: `nodewright.plugins.registry.Registry`."""

    def names(self, kind: str) -> Sequence[str]:
        """The names that installed distributions registered for *kind*."""
        ...

    def load(self, kind: str, name: str) -> type[Plugin]:
        """Return the class; raises `PluginError` with a whole sentence if there is none or it can't be used."""
        ...


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A plugin that is named at a path, where one that fits *slot* is wanted."""

    slot: Slot
    path: Path
    mention: Mention


def slot_of(setting: Setting) -> Slot | None:
    """Return what may stand at *setting*, None if it is no place for plugins."""
    return next((each for each in setting.field.metadata if isinstance(each, Slot)), None)


def read_mentions(tree: Tree) -> tuple[dict[str, Any], list[Placed]]:
    """Return a copy of the data of *tree* in which plugins are `Mention`s, and the plugins.

    What can't be read as one is left as it is, for the model to complain about.
    """
    data, placed = copy.deepcopy(tree.data), []
    for setting in all_settings():
        slot = slot_of(setting)
        if slot is None:
            continue
        items: list[Any] = []
        for path, item in _items(setting, tree):
            try:
                mention = Mention.read(item, line=tree.place(path).line)
            except ValueError:
                items.append(item)
            else:
                items.append(mention)
                placed.append(Placed(slot=slot, path=path, mention=mention))
        if items:
            section = reduce(step, setting.path[:-1], data)
            section[setting.path[-1]] = items[0] if setting.field.annotation is Mention else items
    return data, placed


def _items(setting: Setting, tree: Tree) -> list[tuple[Path, object]]:
    value = tree.get(setting.path)
    if value is None:
        return []
    if setting.field.annotation is Mention:
        return [(setting.path, value)]
    if isinstance(value, list):
        return [((*setting.path, index), item) for index, item in enumerate(value)]
    return [(setting.path, name) for name in split_commas(value)] if isinstance(value, str) else []


def check_plugins(placed: Sequence[Placed], classes: PluginClasses) -> Iterator[Mistake]:
    """Yield what is wrong with the plugins that are named: their names, their kind and their settings."""
    for each in placed:
        name = each.mention.name
        try:
            plugin = classes.load(each.slot.kind, name)
        except PluginError as error:
            installed = name in classes.names(each.slot.kind)
            yield Mistake(path=each.path, message=str(error), of_plugin=installed)
            continue
        if not issubclass(plugin, each.slot.base):
            yield Mistake(path=each.path, message=_misplaced(plugin, each))
        elif plugin.api_version != API_VERSION:
            yield Mistake(
                path=each.path,
                message=f"{name} was written for version {plugin.api_version} of the plugin contract, "
                f"this Nodewright has version {API_VERSION}: install a release of it that fits",
            )
        else:
            yield from _check_settings(plugin, each)


def _check_settings(plugin: type[Plugin], placed: Placed) -> Iterator[Mistake]:
    path = (*placed.path, placed.mention.name)
    try:
        _, mistakes = validate(plugin.Config, placed.mention.config)
    except Exception as error:  # a validator of the plugin may raise anything
        message = f"its settings can't be checked: {type(error).__name__}: {error}"
        yield Mistake(path=path, message=message, of_plugin=True)
        return
    for mistake in mistakes:
        # Where nothing is written below the name, there is no other place than the name.
        its_setting = f"its setting {dotted(mistake.path)} " if mistake.path else ""
        its = Mistake(path=placed.path, message=its_setting + mistake.message)
        yield replace(mistake.below(path) if placed.mention.config else its, of_plugin=True)


def _misplaced(plugin: type[Plugin], placed: Placed) -> str:
    name = placed.mention.name
    for setting in all_settings():
        slot = slot_of(setting)
        if slot is not None and slot.kind == placed.slot.kind and issubclass(plugin, slot.base):
            return f"{name} is a step of {setting.name}, write it there"
    return f"{name} is a {plugin.__mro__[1].__name__}, here stands a {placed.slot.base.__name__}"
