"""Trials: every plugin that a configuration names is made once, to see whether it can be."""

from collections.abc import Iterator
from dataclasses import dataclass

from nodewright.api.clock import Clock
from nodewright.api.errors import ConfigurationError, PluginError, Problem
from nodewright.config.document import Loaded
from nodewright.config.model import Settings
from nodewright.config.paths import Path, all_settings
from nodewright.config.plugins import PluginClasses, make, slot_of
from nodewright.config.providers import provider_context
from nodewright.config.reference import Reference


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why one plugin can't be made."""

    kind: str
    name: str
    problem: Problem


def trial(loaded: Loaded, classes: PluginClasses, clock: Clock) -> Iterator[Refusal]:
    """Yield why plugins can't be made from the whole configuration. Making one asks nothing outside."""
    context = provider_context(loaded.settings, clock)
    for kind, path, reference in references(loaded.settings):
        extra = (context,) if kind == "providers" else ()
        try:
            make(classes, kind, reference, *extra).close()
        except PluginError as error:
            its = (*path, reference.name)
            for problem in _problems(error, its, loaded):
                yield Refusal(kind=kind, name=reference.name, problem=problem)


def references(settings: Settings) -> Iterator[tuple[str, Path, Reference]]:
    """Yield the kind, the path and the reference of every plugin that *settings* name, defaults included."""
    for setting in all_settings():
        slot, value = slot_of(setting), setting.of(settings)
        if slot is None:
            continue
        if isinstance(value, Reference):
            yield slot.kind, setting.path, value
        else:
            for index, each in enumerate(value):
                yield slot.kind, (*setting.path, index), each


def _problems(error: PluginError, path: Path, loaded: Loaded) -> Iterator[Problem]:
    """Yield what is wrong with the plugin at *path*, with the lines in the file."""
    if not isinstance(error.__cause__, ConfigurationError):
        yield loaded.origins.problem(path, str(error))
        return
    for problem in error.__cause__.problems:
        below = tuple(problem.path.split(".")) if problem.path else ()
        yield problem if problem.source == "flags" else loaded.origins.problem((*path, *below), problem.message)
