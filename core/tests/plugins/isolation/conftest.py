"""Plugins in processes of their own."""

from collections.abc import Callable, Iterator

import pytest
from nodewright.api import Plugin
from nodewright.plugins import Registry

Isolate = Callable[..., Plugin]


@pytest.fixture
def faults() -> list[tuple[str, str, str]]:
    """What was noted: plugin, place and error."""
    return []


@pytest.fixture
def isolate(faults) -> Iterator[Isolate]:
    """Makes a plugin in a process of its own; all are closed at the end."""
    made: list[Plugin] = []

    def make(kind, name, config=None, *extra, memory=None, deadline=None):
        def note(plugin, where, error):
            faults.append((plugin, where, str(error)))

        plugin = Registry().create_apart(kind, name, config or {}, *extra, memory=memory, deadline=deadline, note=note)
        made.append(plugin)
        return plugin

    yield make
    for plugin in made:
        plugin.close()
