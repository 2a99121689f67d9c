"""Durations as people write them, and those that differ from case to case."""

import re
from dataclasses import dataclass
from random import Random
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_WHOLE = re.compile(rf"(?:{_PART.pattern})+")


def parse_duration(value: object) -> float:
    """Return a duration such as ``90s``, ``2m`` or ``1h30m`` in seconds; a number is seconds already."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(value))
    raise ValueError(f"{value!r} is not a duration: write a number with a unit, such as 90s, 2m or 1h30m")


#: Seconds, read from a duration.
Duration = Annotated[float, BeforeValidator(parse_duration), WithJsonSchema({"type": ["string", "number"]})]


@dataclass(frozen=True, kw_only=True)
class Span:
    """A duration between two bounds, in seconds."""

    shortest: float
    longest: float

    def draw(self, chance: Random) -> float:
        """One that lies within, to the millisecond."""
        return round(chance.uniform(self.shortest, self.longest), 3)

    def __str__(self) -> str:
        return f"{self.shortest:g}s..{self.longest:g}s"


def parse_span(value: object) -> Span:
    """Return a `Span` for one duration or for two, as in ``30s..60s``."""
    if isinstance(value, Span):
        return value
    if isinstance(value, str) and ".." in value:
        shortest, longest = (parse_duration(bound.strip()) for bound in value.split("..", 1))
        if shortest > longest:
            raise ValueError(f"{value!r} ends before it begins: write the shorter duration first")
        return Span(shortest=shortest, longest=longest)
    seconds = parse_duration(value)
    return Span(shortest=seconds, longest=seconds)


SpanSetting = Annotated[
    Span, BeforeValidator(parse_span), PlainSerializer(str), WithJsonSchema({"type": ["string", "number"]})
]
