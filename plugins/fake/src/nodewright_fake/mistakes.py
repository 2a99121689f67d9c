"""Mistakes in documents, in words for people."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from nodewright_fake.names import suggest


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """One thing that is wrong, and where."""

    #: Keys and indexes from the top of the document.
    location: tuple[int | str, ...]
    message: str

    @property
    def path(self) -> str:
        """The location as people write it: ``groups[0].zone``."""
        return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in self.location).lstrip(".")

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.location else self.message


def mistakes(error: ValidationError, model: type[BaseModel]) -> Iterator[Mistake]:
    """Yield all mistakes that kept a document from being read as *model*."""
    for detail in error.errors(include_url=False):
        location = tuple(part for part in detail["loc"] if part != "[key]")
        yield Mistake(location=location, message=_message(detail, model))


def _message(detail: ErrorDetails, model: type[BaseModel]) -> str:
    given = detail["input"]
    context = detail.get("ctx", {})
    match detail["type"]:
        case "value_error":
            return str(context["error"])
        case "missing":
            return "is missing"
        case "extra_forbidden":
            key = str(detail["loc"][-1])
            return f"unknown setting{suggest(key, _keys(model, detail['loc'][:-1]))}"
        case "enum" | "literal_error":
            return f"{given!r} is not allowed: write {context['expected']}"
        case "model_type" | "dict_type" | "model_attributes_type":
            return f"must be a mapping, not {_kind(given)}"
        case "tuple_type" | "list_type":
            return f"must be a list, not {_kind(given)}"
        case "string_type":
            return f"must be text, not {_kind(given)}: put it in quotes"
        case "int_type" | "int_parsing" | "int_from_float":
            return f"must be a whole number, not {given!r}"
        case "float_type" | "float_parsing":
            return f"must be a number, not {given!r}"
        case "bool_type" | "bool_parsing":
            return f"must be true or false, not {given!r}"
        case "greater_than_equal":
            return f"must be at least {context['ge']:g}, not {given!r}"
        case "greater_than":
            return f"must be above {context['gt']:g}, not {given!r}"
        case "less_than_equal":
            return f"must be at most {context['le']:g}, not {given!r}"
        case "too_short" | "string_too_short":
            return "must not be empty"
        case "timezone_aware":
            return "has no time zone: write one, as in 2030-01-01T08:00:00Z"
        case "string_pattern_mismatch":
            return f"{given!r} is not a name: use lower-case letters, digits, '-' and '.'"
    return detail["msg"]


def _kind(given: object) -> str:
    match given:
        case None:
            return "empty"
        case dict():
            return "a mapping"
        case list():
            return "a list"
    return repr(given)


def _keys(model: type[BaseModel], location: tuple[int | str, ...]) -> list[str]:
    """The keys that are allowed at *location* of a document of type *model*."""
    kinds: list[Any] = [model]
    for part in location:
        kinds = [inner for kind in kinds for inner in _step(kind, part)]
    return [field.alias or name for kind in kinds for name, field in kind.model_fields.items()]


def _step(kind: type[BaseModel], part: int | str) -> Iterator[type[BaseModel]]:
    """The models below *kind*, one key further down; lists and mappings are passed through."""
    fields = [field for name, field in kind.model_fields.items() if part in (name, field.alias)]
    if not fields:
        yield kind
    for field in fields:
        yield from _models(field.annotation)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in getattr(annotation, "__args__", ()):
        yield from _models(argument)
