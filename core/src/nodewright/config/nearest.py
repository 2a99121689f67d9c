"""Did you mean: the nearest right name for a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the one of *allowed* that *name* was most likely meant to be, None if none is near."""
    by_lower = {candidate.lower(): candidate for candidate in allowed}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[matches[0]] if matches else None


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean x?``, or else ``; allowed: a, b``, to end a sentence about the wrong *name*."""
    names = list(allowed)
    match = nearest(name, names)
    if match is not None:
        return f"; did you mean {match}?"
    return f"; allowed: {', '.join(names)}" if names else ""
