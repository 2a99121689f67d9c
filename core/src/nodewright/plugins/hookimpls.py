"""Hook implementations: which hooks a plugin class implements, checked before any of them is called."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import Parameter

import pluggy

from nodewright.api.hookspecs import HOOKSPECS, PROJECT
from nodewright.api.nearest import nearest

#: Every specification by the name of its hook.
SPECIFICATIONS: Mapping[str, Callable[..., object]] = {
    name: specification
    for specifications in HOOKSPECS
    for name, specification in vars(specifications).items()
    if not name.startswith("_")
}
#: The arguments that each hook gives.
HOOKS: Mapping[str, tuple[str, ...]] = {
    name: tuple(inspect.signature(specification).parameters)[1:] for name, specification in SPECIFICATIONS.items()
}


def hook_manager() -> pluggy.PluginManager:
    """Return a pluggy manager that knows Nodewright's hooks and no plugin."""
    manager = pluggy.PluginManager(PROJECT)
    for specifications in HOOKSPECS:
        manager.add_hookspecs(specifications)
    return manager


_marks = hook_manager()


@dataclass(frozen=True, kw_only=True)
class Implementation:
    """One method of a plugin class that implements a hook."""

    method: str
    hook: str
    #: The arguments that it wants to have, by name.
    takes: tuple[str, ...]
    tryfirst: bool
    trylast: bool


def implementations(plugin: type) -> tuple[Implementation, ...]:
    """Return the hook implementations of class *plugin*.

    Raises `ValueError` for a mistake that would keep a method from ever being called, or make each call fail: an
    unknown hook or argument, a forgotten ``@hookimpl``, a coroutine, generator or wrapper.
    """
    found = []
    for method in dir(plugin):
        marks = _marks.parse_hookimpl_opts(plugin, method)
        if marks is None:
            if method in HOOKS and _marks.parse_hookspec_opts(plugin, method) is None:
                raise ValueError(
                    f"{plugin.__name__}.{method} is named like a hook: mark it with @hookimpl, or rename it"
                )
            continue
        hook = marks["specname"] or method
        if hook in HOOKS:
            parameters = _parameters(plugin, method)
            if problem := _problem(plugin, method, hook, parameters, wraps=marks["wrapper"] or marks["hookwrapper"]):
                raise ValueError(f"{plugin.__name__}.{method} {problem}")
            takes = tuple(parameter.name for parameter in parameters)
            place = {"tryfirst": marks["tryfirst"], "trylast": marks["trylast"]}
            found.append(Implementation(method=method, hook=hook, takes=takes, **place))
        elif not marks["optionalhook"]:
            raise ValueError(f"{plugin.__name__}.{method} implements a hook that does not exist{_meant(hook)}")
    return tuple(found)


def _parameters(plugin: type, method: str) -> list[Parameter]:
    """Return the parameters of *method* that a call has to fill."""
    parameters = list(inspect.signature(getattr(plugin, method)).parameters.values())
    return parameters if _is_bound(plugin, method) else parameters[1:]


def _is_bound(plugin: type, method: str) -> bool:
    """Return whether *method* needs no instance of *plugin*."""
    return isinstance(inspect.getattr_static(plugin, method), staticmethod | classmethod)


def _problem(plugin: type, method: str, hook: str, parameters: list[Parameter], *, wraps: bool) -> str:
    """Say why a call of *method* would fail; empty if it would not."""
    function = getattr(plugin, method)
    # pluggy's wrappers are refused: one that fails before its yield would keep pluggy from calling anything behind it.
    if wraps or inspect.isgeneratorfunction(function):
        return "is a generator or a hook wrapper: write it as a plain method that returns its answer"
    if inspect.iscoroutinefunction(function):
        return "is a coroutine, which is never awaited: write it as a plain method"
    first = next(iter(inspect.signature(function).parameters), "")
    if first in HOOKS[hook] and not _is_bound(plugin, method):
        return f"takes {first} in the place of self: write def {method}(self, {first})"
    for parameter in parameters:
        if parameter.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY):
            return f"takes {parameter}: name the arguments it needs, of {_listed(hook)}"
        if parameter.name not in HOOKS[hook]:
            return f"takes an argument {parameter.name!r}, but the hook gives {_listed(hook)}"
    return ""


def _listed(hook: str) -> str:
    return " and ".join(HOOKS[hook]) or "none"


def _meant(hook: str) -> str:
    match = nearest(hook, tuple(HOOKS))
    return f": did you mean {match!r}?" if match else ""
