"""Creation: plugins are made, and checked, in processes of their own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from nodewright.api import Plugin, PluginError
from nodewright.plugins.isolation.process import Limits, PluginProcess, ProcessError
from nodewright.plugins.isolation.provider import IsolatedProvider
from nodewright.plugins.isolation.servants import Description
from nodewright.plugins.isolation.stand_ins import STAND_INS, IsolatedConfig, stand_in_class


def create_isolated(
    create: Callable[..., Plugin],
    kind: str,
    name: str,
    config: Mapping[str, object],
    *extra: object,
    limits: Limits,
    note: Callable[[str, str, Exception], None],
) -> Plugin:
    """Have a plugin made by *create*, a function of a module, in a process of its own. *note* notes faults of it.

    Imports nothing of the plugin here. Raises `PluginError`, as *create* does, and if the process can't make it.
    """

    def begin(config: Mapping[str, object], *extra: object) -> tuple[PluginProcess, object]:
        process = PluginProcess(name, limits, create, kind, name, dict(config), *extra)
        try:
            return process, process.start()
        except ProcessError as error:
            raise PluginError(name, f"{name} can't be started in a process of its own: {error}") from error

    process, told = begin(config, *extra)
    settings = IsolatedConfig(given=dict(config))
    try:
        described = Description(**_checked(told))
        if described.base == "Provider":
            provider = stand_in_class(name, IsolatedProvider, described, begin)
            provider.note = (partial(note, name),)
            return cast("Callable[..., Plugin]", provider)(settings, *extra, process=process)
        stand_in = stand_in_class(name, STAND_INS[described.base], described, begin)
        return stand_in(settings, process=process)
    except PluginError:
        process.close()
        raise
    except Exception as error:
        process.close()
        raise PluginError(name, f"{name} can't run in a process of its own: {error}") from error


def in_child(plugin: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Return what *function*, a function of a module, finds out about *plugin* in a process that ends after it.

    Raises `ProcessError` if that process ends, hangs or sends garbage, and whatever the function raises.
    """
    process = PluginProcess(plugin, Limits(), function, *arguments)
    try:
        return process.start()
    finally:
        process.close()


def _checked(told: object) -> dict[str, Any]:
    if not isinstance(told, dict) or told.keys() != Description.__dataclass_fields__.keys():
        raise TypeError("it does not say what it is")
    return told
