"""Durations in settings."""

from datetime import timedelta
from typing import Annotated

from nodewright.api import parse_duration
from pydantic import BeforeValidator, WithJsonSchema


def _read(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError(f"write a duration such as 10m or 1h30m, not {value}")


#: A span of time, read from text. Defaults are text, too, and validated, so that the schema shows what people write.
Duration = Annotated[timedelta, BeforeValidator(_read), WithJsonSchema({"type": "string"})]
