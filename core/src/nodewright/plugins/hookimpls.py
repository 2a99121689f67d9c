"""Hook implementations: which hooks a plugin class implements, checked before any of them is called."""

import inspect
from inspect import Parameter

import pluggy

from nodewright.api.hookspecs import HOOKSPECS, PROJECT
from nodewright.api.nearest import nearest


class HookManager(pluggy.PluginManager):
    """A pluggy manager that knows Nodewright's hooks and nothing else."""

    def __init__(self) -> None:
        super().__init__(PROJECT)
        for specifications in HOOKSPECS:
            self.add_hookspecs(specifications)


#: Argument names by hook.
HOOKS: dict[str, tuple[str, ...]] = {
    name: tuple(inspect.signature(specification).parameters)[1:]
    for specifications in HOOKSPECS
    for name, specification in vars(specifications).items()
    if not name.startswith("_")
}

_marks = HookManager()


def implemented_hooks(kind: type) -> tuple[str, ...]:
    """Return the names of the hooks that class *kind* implements.

    Raises `ValueError` for a mistake that would keep a method from ever being called, or make each call fail: an
    unknown hook or argument, a forgotten ``@hookimpl``, a coroutine, generator or wrapper.
    """
    hooks = []
    for method in dir(kind):
        marks = _marks.parse_hookimpl_opts(kind, method)
        if marks is None:
            if method in HOOKS and _marks.parse_hookspec_opts(kind, method) is None:
                raise ValueError(f"{kind.__name__}.{method} is named like a hook: mark it with @hookimpl, or rename it")
            continue
        hook = marks["specname"] or method
        if hook in HOOKS:
            if problem := _problem(kind, method, hook, wraps=marks["wrapper"] or marks["hookwrapper"]):
                raise ValueError(f"{kind.__name__}.{method} {problem}")
            hooks.append(hook)
        elif not marks["optionalhook"]:
            raise ValueError(f"{kind.__name__}.{method} implements a hook that does not exist{_meant(hook)}")
    return tuple(hooks)


def _problem(kind: type, method: str, hook: str, *, wraps: bool) -> str:
    """Say what keeps the dispatcher from calling *method*; empty if nothing does."""
    function = getattr(kind, method)
    if wraps or inspect.isgeneratorfunction(function):
        return "is a generator or a hook wrapper: write it as a plain method that returns its answer"
    if inspect.iscoroutinefunction(function):
        return "is a coroutine, and nobody would await it: write it as a plain method"
    parameters = list(inspect.signature(function).parameters.values())
    if not isinstance(inspect.getattr_static(kind, method), staticmethod | classmethod):
        parameters = parameters[1:]
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
