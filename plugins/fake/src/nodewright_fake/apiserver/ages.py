"""How long ago, in the few characters that kubectl spends on it."""

from datetime import datetime

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400

#: Up to how many seconds a duration is written in which units, and whether the smaller one is dropped.
_STEPS = (
    (2 * _MINUTE, 1, "s", 0, ""),
    (10 * _MINUTE, _MINUTE, "m", 1, "s"),
    (3 * _HOUR, _MINUTE, "m", 0, ""),
    (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h", 0, ""),
    (8 * _DAY, _DAY, "d", _HOUR, "h"),
    (2 * _YEAR, _DAY, "d", 0, ""),
    (8 * _YEAR, _YEAR, "y", _DAY, "d"),
)


def human(seconds: float) -> str:
    """Return a duration as kubectl writes it: ``45s``, ``3m20s``, ``5h``, ``12d``."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    whole = max(0, whole)
    for limit, unit, letter, small_unit, small_letter in _STEPS:
        if whole < limit:
            rest = whole % unit // small_unit if small_unit else 0
            return f"{whole // unit}{letter}" + (f"{rest}{small_letter}" if rest else "")
    return f"{whole // _YEAR}y"


def since(moment: object, now: datetime) -> str:
    """Return how long before *now* a Kubernetes timestamp lies; ``<unknown>`` if it is none."""
    if not isinstance(moment, str) or not moment:
        return "<unknown>"
    return human((now - datetime.fromisoformat(moment)).total_seconds())
