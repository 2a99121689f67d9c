"""Kubernetes quantities as exact integers."""

import re
from collections.abc import Mapping
from functools import lru_cache

#: Resource amounts by resource name: ``cpu`` in milli-cores, everything else in whole units (bytes, pods, devices).
Resources = Mapping[str, int]

_SYNTAX = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d+))?")
_BINARY = {"Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4, "Pi": 1024**5, "Ei": 1024**6}
#: A limit that no real amount reaches. A larger amount counts as this much; Kubernetes has a limit, too.
MOST = 1 << 53
#: Larger exponents make no difference.
_LARGEST_EXPONENT = 400
_DECIMAL_EXPONENT = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@lru_cache(maxsize=8192)
def parse_quantity(text: str, *, scale: int = 0) -> int:
    """Return *text* as an integer number of 10**-*scale* units, rounded away from zero as Kubernetes does.

    ``parse_quantity("250m", scale=3)`` is 250, ``parse_quantity("250m")`` is 1.
    Raises `ValueError` that quotes *text* when it is not a quantity.
    """
    match = _SYNTAX.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        raise ValueError(f"{text!r} is not a quantity: write a number with an optional suffix, such as 500m, 2, 1.5Gi")
    sign, whole, fraction, suffix, exponent = match.groups()
    fraction = fraction or ""
    mantissa = int((whole or "0") + fraction) * _BINARY.get(suffix or "", 1)
    power = (
        scale
        - len(fraction)
        + (_within(int(exponent), _LARGEST_EXPONENT) if exponent else _DECIMAL_EXPONENT.get(suffix or "", 0))
    )
    magnitude = mantissa * int(10**power) if power >= 0 else -(-mantissa // int(10**-power))
    return -magnitude if sign == "-" else magnitude


def parse_resources(quantities: Mapping[str, str | int | float]) -> dict[str, int]:
    """Return a resource list (``requests``, ``allocatable``, ...) as `Resources`.

    Amounts stay within 64 bits: one beyond 2**53 counts as that.
    Raises `ValueError` that names the resource whose amount is not a quantity.
    """
    amounts = {}
    for name, quantity in quantities.items():
        try:
            amounts[name] = _within(parse_quantity(str(quantity), scale=3 if name == "cpu" else 0), MOST)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return amounts


def format_resource(name: str, amount: int) -> str:
    """Return *amount* of resource *name* the way people write it: ``1500m``, ``4``, ``16Gi``."""
    if name == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if name in ("memory", "ephemeral-storage") or name.startswith("hugepages-"):
        for suffix, size in reversed(_BINARY.items()):
            if amount and amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)


def _within(number: int, most: int) -> int:
    return max(-most, min(number, most))
