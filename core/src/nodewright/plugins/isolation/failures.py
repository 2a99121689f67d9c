"""Failures: exceptions as values, on their way from one process to the other."""

import builtins
from typing import Any

from nodewright.api import NodewrightError, errors
from nodewright.plugins.error_text import text_of

#: What went wrong in the plugin's process: names of the exception's classes, its message, its fields, and those of them
#: that are failures themselves.
Failure = tuple[tuple[str, ...], str, dict[str, Any], dict[str, "Failure"]]


def failure_of(error: BaseException) -> Failure:
    """Return *error* as values."""
    names = tuple(kind.__name__ for kind in type(error).__mro__)
    ours = isinstance(error, NodewrightError)
    state = {key: value for key, value in vars(error).items() if ours and not key.startswith("_")}
    causes = {key: failure_of(value) for key, value in state.items() if isinstance(value, NodewrightError)}
    return names, text_of(error), {key: value for key, value in state.items() if key not in causes}, causes


def error_of(failure: Failure) -> Exception:
    """Return the exception that *failure* tells of: one of the same class if it is of the contract or Python's own.

    Of another, it has the name, so that it reads the same in logs.
    """
    names, message, state, causes = failure
    base = next(found for name in (*names, "Exception") if (found := _exception(name)) is not None)
    if base.__name__ != names[0] and not issubclass(base, NodewrightError):
        base = type(str(names[0]), (base,), {})
    if not issubclass(base, NodewrightError):
        base = type(base.__name__, (base,), {"__str__": lambda self: message, "__module__": base.__module__})
    error = base.__new__(base)
    error.args = (message,)
    vars(error).update(state)
    vars(error).update({key: error_of(cause) for key, cause in causes.items()})
    return error


def _exception(name: str) -> type[Exception] | None:
    found = getattr(errors, name, None) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
