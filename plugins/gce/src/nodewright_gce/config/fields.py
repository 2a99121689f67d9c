"""Kinds of fields that several settings have."""

from datetime import timedelta
from typing import Annotated

from nodewright.api import parse_duration, parse_quantity
from pydantic import AfterValidator, BeforeValidator, WithJsonSchema


def _read_duration(value: object) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise ValueError(f"write a duration such as 10m or 1h30m, not {value}")


def _quantity(text: str) -> str:
    if parse_quantity(text) < 0:
        raise ValueError(f"{text!r} is negative: write an amount such as 200m or 1Gi")
    return text


def _quantity_or_percent(text: str) -> str:
    if not text.endswith("%"):
        return _quantity(text)
    try:
        percent = float(text[:-1])
    except ValueError:
        percent = -1
    if not 0 <= percent <= 100:
        raise ValueError(f"{text!r} is no threshold: write an amount such as 200Mi, or a percentage from 0% to 100%")
    return text


#: A span of time, read from text. Defaults are text too, and validated, so that the schema shows what people write.
Duration = Annotated[timedelta, BeforeValidator(_read_duration), WithJsonSchema({"type": "string"})]
Quantity = Annotated[str, AfterValidator(_quantity)]
Threshold = Annotated[str, AfterValidator(_quantity_or_percent)]
