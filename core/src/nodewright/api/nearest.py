"""Did you mean: the nearest right names for a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches

#: How many names are suggested at most.
_MOST = 3


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of *names* that was most likely meant by *name*, None if none is near."""
    return next(iter(near(name, names, most=1)), None)


def near(name: str, names: Iterable[str], *, most: int = _MOST) -> list[str]:
    """Return those of *names* that may have been meant by *name*, the nearest first, at most so many."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    return [by_lower[match] for match in get_close_matches(name.lower(), by_lower, n=most, cutoff=0.65)]
