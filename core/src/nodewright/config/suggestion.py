"""The end of a sentence about a wrong name."""

from collections.abc import Iterable

from nodewright.api.nearest import nearest


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean x?``, or else ``; allowed: a, b``, to end a sentence about the wrong *name*."""
    names = list(allowed)
    match = nearest(name, names)
    if match is not None:
        return f"; did you mean {match}?"
    return f"; allowed: {', '.join(names)}" if names else ""
