"""Did you mean: the nearest right name for a wrong one."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of *names* that was most likely meant by *name*, None if none is near."""
    by_lower = {candidate.lower(): candidate for candidate in names}
    matches = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.65)
    return by_lower[matches[0]] if matches else None
