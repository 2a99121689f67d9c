"""Durations as people write them."""

import re
from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, WithJsonSchema

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(value: object) -> timedelta:
    """Return a duration such as ``90s``, ``5m`` or ``1h30m``; raises `ValueError`."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value)))
    raise ValueError(f"{value!r} is not a duration: write a number with a unit, such as 90s, 5m or 1h30m")


#: A span of time, read from text. Defaults are text, too, and validated, so that the schema shows what people write.
Duration = Annotated[timedelta, BeforeValidator(parse_duration), WithJsonSchema({"type": "string"})]
