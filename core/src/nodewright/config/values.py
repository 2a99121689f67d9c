"""Types of single settings: how each is written in YAML, and its JSON Schema."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from cronsim import CronSim, CronSimError
from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from nodewright.api.nearest import nearest
from nodewright.api.provider import GroupSpec
from nodewright.config.wording import written
from nodewright.objects.duration import format_duration, parse_duration
from nodewright.objects.quantity import format_resource, parse_quantity

_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)
_PERCENT = re.compile(r"([0-9]{1,3})%")


@dataclass(frozen=True, kw_only=True)
class Share:
    """A number, or a percentage of a total."""

    amount: int
    percent: bool = False

    def of(self, total: int) -> int:
        """Return the number out of *total*. A percentage is rounded up, so that only 0 % gives none."""
        return -(-self.amount * total // 100) if self.percent else self.amount

    def __str__(self) -> str:
        return f"{self.amount}%" if self.percent else str(self.amount)


def _read_duration(value: object) -> timedelta:
    if isinstance(value, str):
        value = parse_duration(value)
    elif value == 0 and not isinstance(value, bool):
        value = timedelta(0)
    if not isinstance(value, timedelta):
        raise ValueError(f"write a duration such as 10m or 1h30m, not {written(value)}")
    if value < timedelta(0):
        raise ValueError("must not be negative")
    return value


def _read_positive_duration(value: object) -> timedelta:
    duration = _read_duration(value)
    if not duration:
        raise ValueError("must be longer than 0")
    return duration


def _read_cores(value: object) -> int:
    return _read_quantity(value, scale=3, example="4000 or 500m")


def _read_bytes(value: object) -> int:
    return _read_quantity(value, scale=0, example="512Mi or 64Gi")


def _read_quantity(value: object, *, scale: int, example: str) -> int:
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        amount = parse_quantity(str(value), scale=scale)
    except ValueError:
        raise ValueError(f"write an amount such as {example}, not {written(value)}") from None
    if amount < 0:
        raise ValueError("must not be negative")
    return amount


def _read_group(value: object) -> GroupSpec:
    if isinstance(value, GroupSpec):
        return value
    parts = value.split(":", 2) if isinstance(value, str) else []
    if len(parts) != 3 or not (parts[0].isdecimal() and parts[1].isdecimal() and parts[2]):
        raise ValueError("write a node group as min:max:name, such as 1:10:workers")
    low, high = int(parts[0]), int(parts[1])
    if low > high:
        raise ValueError(f"the minimum {low} is above the maximum {high}")
    return GroupSpec(name=parts[2], min_size=low, max_size=high)


def _read_share(value: object) -> Share:
    """Return the share that is written as ``5`` or ``"10%"``. Raises `ValueError` for anything else."""
    if isinstance(value, Share):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError("must not be negative")
        return Share(amount=value)
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if percent is None or int(percent[1]) > 100:
        raise ValueError(f"write a number such as 5, or a percentage such as 10%, not {written(value)}")
    return Share(amount=int(percent[1]), percent=True)


def _write_share(share: Share) -> int | str:
    """Return *share* as it is written in YAML."""
    return str(share) if share.percent else share.amount


def _read_cron(value: object) -> str:
    """Return *value* if it is a cron expression of five fields that ever matches. Raises `ValueError` otherwise."""
    if not isinstance(value, str) or len(value.split()) != 5:
        raise ValueError(
            f'write minute, hour, day of month, month and day of week, such as "0 9 * * mon-fri", not {written(value)}'
        )
    try:
        next(CronSim(value, _SOME_DAY))
    except CronSimError as error:
        field = str(error).removeprefix("Bad ").replace("-", " ")
        raise ValueError(f"the {field} in {written(value)} is not valid") from None
    except StopIteration:
        raise ValueError(f"{written(value)} never matches") from None
    return value


def _read_time_zone(value: object) -> str:
    """Return *value* if it names a time zone. Raises `ValueError` otherwise."""
    try:
        return ZoneInfo(value).key if isinstance(value, str) and value else _no_time_zone(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _no_time_zone(value)


def _no_time_zone(value: object) -> str:
    # Short names such as EST are ambiguous: suggest only those with a place.
    places = [name for name in available_timezones() if "/" in name]
    near = nearest(value, places) if isinstance(value, str) else None
    hint = f"; did you mean {near}?" if near else ""
    raise ValueError(f"write a time zone such as Europe/Berlin, not {written(value)}{hint}")


def split_commas(text: str) -> list[str]:
    """Return the names in ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def read_names(value: object) -> object:
    """Return *value* as a list if it is text."""
    return split_commas(value) if isinstance(value, str) else value


def _write_group(group: GroupSpec) -> str:
    return f"{group.min_size}:{group.max_size}:{group.name}"


_DURATION_SCHEMA = {
    "anyOf": [
        {"type": "string", "pattern": r"^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"},
        {"const": 0},
    ],
    "examples": ["10m", "1h30m"],
}
_QUANTITY_SCHEMA: dict[str, Any] = {
    "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\+?[0-9.]+[A-Za-z0-9+-]*$"}]
}

Switch = Annotated[bool, Field(strict=True)]
Whole = Annotated[int, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=0)]
Positive = Annotated[int, Field(strict=True, ge=1)]
Ratio = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Percentage = Annotated[float, Field(strict=True, ge=0, le=100, allow_inf_nan=False)]
Money = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Name = Annotated[str, Field(min_length=1)]

Duration = Annotated[
    timedelta,
    BeforeValidator(_read_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema(_DURATION_SCHEMA),
]
PositiveDuration = Annotated[
    timedelta,
    BeforeValidator(_read_positive_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema(_DURATION_SCHEMA),
]
#: Milli-cores in Python, a Kubernetes quantity of cores in YAML.
Cores = Annotated[
    int,
    BeforeValidator(_read_cores),
    PlainSerializer(lambda amount: format_resource("cpu", amount), return_type=str),
    WithJsonSchema(_QUANTITY_SCHEMA),
]
#: Bytes in Python, a Kubernetes quantity in YAML.
Bytes = Annotated[
    int,
    BeforeValidator(_read_bytes),
    PlainSerializer(lambda amount: format_resource("memory", amount), return_type=str),
    WithJsonSchema(_QUANTITY_SCHEMA),
]
#: A node group that is listed by hand: ``min:max:name``.
Group = Annotated[
    GroupSpec,
    BeforeValidator(_read_group),
    PlainSerializer(_write_group, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+:[0-9]+:.+$"}),
]
#: A number or a percentage of nodes: ``5`` or ``10%``.
NodeShare = Annotated[
    Share,
    BeforeValidator(_read_share),
    PlainSerializer(_write_share, return_type=int | str),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]}
    ),
]
#: A repeated time, as in cron: five fields.
Cron = Annotated[
    str,
    BeforeValidator(_read_cron),
    WithJsonSchema({"type": "string", "pattern": r"^\S+( +\S+){4}$", "examples": ["0 9 * * mon-fri"]}),
]
TimeZone = Annotated[
    str, BeforeValidator(_read_time_zone), WithJsonSchema({"type": "string", "examples": ["Europe/Berlin"]})
]
#: A list of names, which can also be written as ``a,b``.
Names = Annotated[tuple[Name, ...], BeforeValidator(read_names)]
