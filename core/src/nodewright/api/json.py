"""Decisions as JSON: what an observer writes down, sends on, and reads back."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from nodewright.api.decision import Decision, Outcome

T = TypeVar("T", Decision, Outcome)


def to_json(value: Decision | Outcome) -> dict[str, Any]:
    """Return *value* as dictionaries, lists, texts, numbers, booleans and None, ready for `json.dumps`.

    Keys are the names of the fields, and all fields are there. Times are texts in the form of RFC 3339, reasons and
    other codes are texts as well. `from_json` reads it back. Safe on any thread; changes nothing.
    """
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(value, enc_hook=_plain_mapping))
    return plain


def from_json(kind: type[T], data: Mapping[str, Any]) -> T:
    """Return the value of type *kind* that `to_json` wrote as *data*. Unknown keys are ignored.

    Raises `ValueError` that names the key whose value can't be read.
    """
    return msgspec.convert(data, kind)


def _plain_mapping(value: object) -> dict[Any, Any]:
    """Return a read-only mapping as a dictionary: msgspec knows no other kind of mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} can't be written as JSON")
