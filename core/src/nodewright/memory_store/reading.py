"""Reading stored memory item by item: an item that can't be understood is dropped, and all others are kept."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from nodewright.decision.memory import Memory
from nodewright.decision.memory.memory import in_slices

#: Times outside these bounds are mistakes, and arithmetic on them would overflow.
_EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
_LATEST = datetime(2200, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=3650)
_LARGEST = 2**62


class _UnreadableError(Exception):
    """The text does not have the expected type."""


@dataclass(frozen=True, kw_only=True)
class Read:
    """Memory as far as it could be read."""

    memory: Memory
    #: How many items of each field could not be read; a field with a single value is one item.
    lost: Mapping[str, int] = field(default_factory=dict)


def read_memory(text: bytes) -> Read:
    """Return the memory in the JSON *text*. Ignores fields that this version does not know.

    Raises `ValueError` if it is no JSON object.
    """
    try:
        parts = in_slices(_decode(text, dict[str, msgspec.Raw]))
    except _UnreadableError as error:
        raise ValueError(str(error)) from None
    lost: dict[str, int] = {}
    slices = {
        name: _read_fields(kind, msgspec.json.encode(parts[name]), f"{name}.", lost)
        for name, kind in get_type_hints(Memory).items()
        if name in parts
    }
    return Read(memory=Memory(**slices), lost=lost)


def _read_fields(kind: Any, text: bytes, place: str, lost: dict[str, int]) -> Any:
    """Return the value of a class with fields; *lost* gets how many items of each are dropped."""
    values: dict[str, Any] = {}
    try:
        parts = _decode(text, dict[str, msgspec.Raw])
    except _UnreadableError:
        lost[place.removesuffix(".")] = 1
        return kind()
    for name, hint in _fields(kind).items():
        if name not in parts:
            continue
        try:
            values[name], missing = _read(parts[name], hint)
        except _UnreadableError:
            missing = 1
        if missing:
            lost[place + name] = missing
    return kind(**values)


def _read(text: bytes, hint: Any) -> tuple[Any, int]:
    """Return the value of a field, and how many of its items are dropped."""
    if get_origin(hint) is dict:
        entries = _decode(text, dict[str, msgspec.Raw])
        items = dict(zip(entries, _each(entries.values(), get_args(hint)[1]), strict=True))
        sound: Any = {key: item for key, item in items.items() if item is not None}
        return sound, len(items) - len(sound)
    if get_origin(hint) is tuple:
        found = _each(_decode(text, list[msgspec.Raw]), get_args(hint)[0])
        sound = tuple(item for item in found if item is not None)
        return sound, len(found) - len(sound)
    return _sound(text, hint), 0


def _each(texts: Iterable[bytes], hint: Any) -> list[Any]:
    """Return the value of each text, None for those that can't be read."""
    values = []
    for text in texts:
        try:
            values.append(_sound(text, hint))
        except _UnreadableError:
            values.append(None)
    return values


def _sound(text: bytes, hint: Any) -> Any:
    value = _decode(text, hint)
    if not _is_sound(value):
        raise _UnreadableError("a time or a number is out of bounds")
    return value


def _decode(text: bytes, hint: Any) -> Any:
    try:
        return _decoder(hint).decode(text)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise _UnreadableError(str(error) or "it is nested too deeply") from None


def _is_sound(value: object) -> bool:
    """Tell whether all times and numbers in *value* are within the bounds."""
    match value:
        case datetime():
            return value.tzinfo is not None and _EARLIEST <= value <= _LATEST
        case timedelta():
            return timedelta(0) <= value <= _LONGEST
        case float():
            return math.isfinite(value)
        case int():
            return abs(value) <= _LARGEST
        case Mapping():
            return all(map(_is_sound, value.values()))
        case list() | tuple() | set() | frozenset():
            return all(map(_is_sound, value))
        case msgspec.Struct():
            return all(_is_sound(getattr(value, name)) for name in value.__struct_fields__)
    if dataclasses.is_dataclass(value):
        return all(map(_is_sound, vars(value).values()))
    return True


@cache
def _decoder(hint: Any) -> "msgspec.json.Decoder[Any]":
    return msgspec.json.Decoder(hint)


@cache
def _fields(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in dataclasses.fields(kind)}
