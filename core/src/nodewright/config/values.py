"""The types of single settings: how each is written in YAML, and what its JSON Schema says."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from nodewright.api.drain_rule import DrainRule
from nodewright.api.estimator import Estimator
from nodewright.api.expander import Expander
from nodewright.api.plugin import Plugin
from nodewright.api.pricing import Prices
from nodewright.api.processor import PendingPodsProcessor, ScaleDownCandidatesProcessor
from nodewright.api.provider import GroupSpec, Provider
from nodewright.config.calendar import read_cron, read_time_zone
from nodewright.config.reference import Reference, Slot
from nodewright.config.share import Share, read_share, write_share
from nodewright.config.wording import written
from nodewright.objects.duration import format_duration, parse_duration
from nodewright.objects.quantity import format_resource, parse_quantity


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


def split_commas(text: str) -> list[str]:
    """Return the names in ``a,b``."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _read_names(value: object) -> object:
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
#: A node group by hand: ``min:max:name``.
Group = Annotated[
    GroupSpec,
    BeforeValidator(_read_group),
    PlainSerializer(_write_group, return_type=str),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]+:[0-9]+:.+$"}),
]
#: A number of nodes, or a part of them: ``5`` or ``10%``.
NodeShare = Annotated[
    Share,
    BeforeValidator(read_share),
    PlainSerializer(write_share, return_type=int | str),
    WithJsonSchema(
        {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "^(100|[0-9]{1,2})%$"}]}
    ),
]
#: When something begins, again and again: five fields, as in cron.
Cron = Annotated[
    str,
    BeforeValidator(read_cron),
    WithJsonSchema({"type": "string", "pattern": r"^\S+( +\S+){4}$", "examples": ["0 9 * * mon-fri"]}),
]
TimeZone = Annotated[
    str, BeforeValidator(read_time_zone), WithJsonSchema({"type": "string", "examples": ["Europe/Berlin"]})
]
#: A list of names; ``a,b`` is read as well.
Names = Annotated[tuple[Name, ...], BeforeValidator(_read_names)]

Providers = Annotated[tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="providers", base=Provider)]
Expanders = Annotated[tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="expanders", base=Expander)]
ChosenEstimator = Annotated[Reference, Slot(kind="estimators", base=Estimator)]
PendingPodsSteps = Annotated[
    tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="processors", base=PendingPodsProcessor)
]
ScaleDownCandidatesSteps = Annotated[
    tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="processors", base=ScaleDownCandidatesProcessor)
]
DrainRules = Annotated[tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="drain_rules", base=DrainRule)]
PriceModels = Annotated[tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="prices", base=Prices)]
Hooks = Annotated[tuple[Reference, ...], BeforeValidator(_read_names), Slot(kind="hooks", base=Plugin)]
