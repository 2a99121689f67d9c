"""Durations as Go writes them: ``10m``, ``1h30m``, ``1.5h``, ``100ms``, ``0``."""

import re
from datetime import timedelta

_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # micro sign
    "μs": 10**3,  # Greek letter mu
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_LARGEST = 2**63 - 1  # nanoseconds, as in Go


def parse_duration(text: str) -> timedelta:
    """Return the duration in *text*, without fractions of a microsecond.

    Raises `ValueError` that quotes *text* and shows how to write it.
    """
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return timedelta(0)
    nanoseconds, end = 0, 0
    while end < len(rest):
        part = _PART.match(rest, end)
        if part is None or not (part[1] or part[2]):
            break
        whole, fraction, unit = part[1] or "0", part[2] or "", _NANOSECONDS[part[3]]
        nanoseconds += int(whole) * unit + int(fraction or "0") * unit // 10 ** len(fraction)
        end = part.end()
    if not rest or end < len(rest):
        raise ValueError(f'write a duration such as 10m or 1h30m (units: h, m, s, ms), not "{text}"')
    if nanoseconds > _LARGEST:
        raise ValueError(f'"{text}" is too long: the longest duration is 2562047h')
    return sign * timedelta(microseconds=nanoseconds // 1000)


def format_duration(duration: timedelta) -> str:
    """Return *duration* with as few units as possible. `parse_duration` reads it back unchanged."""
    microseconds = abs(duration) // timedelta(microseconds=1)
    sign = "-" if duration < timedelta(0) else ""
    if microseconds == 0:
        return "0s"
    if microseconds < 10**3:
        return f"{sign}{microseconds}us"
    if microseconds < 10**6:
        return f"{sign}{_decimal(microseconds, 10**3)}ms"
    hours, microseconds = divmod(microseconds, 3600 * 10**6)
    minutes, microseconds = divmod(microseconds, 60 * 10**6)
    parts = (
        f"{hours}h" if hours else "",
        f"{minutes}m" if minutes else "",
        f"{_decimal(microseconds, 10**6)}s" if microseconds else "",
    )
    return sign + "".join(parts)


def _decimal(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    digits = f"{rest:0{len(str(unit)) - 1}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
