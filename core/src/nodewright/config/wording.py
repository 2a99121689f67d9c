"""Messages: pydantic's findings, in words for people who write YAML."""

import re
from collections.abc import Iterable, Mapping
from typing import get_args

from pydantic_core import ErrorDetails
from pydantic_core.core_schema import ErrorType

from nodewright.api.nearest import nearest

_LIST = "write a list, such as [a, b]"
_SECTION = "write its settings below it, as key: value"
_BOOL = "write true or false{not_value}"
_WHOLE = "write a whole number{not_value}"
_NUMBER = "write a number{not_value}"
_TEXT = "write text{not_value}{quote}"
_DATE = "write a date such as 2030-01-31{not_value}"
_TIME = "write a time such as 08:30{not_value}"
_MOMENT = "write a date and time such as 2030-01-31T08:30:00Z{not_value}"
_SPAN = "write a duration such as 90s or 10m{not_value}"
_URL = "write a URL such as https://example.org/path{not_value}"
_UUID = "write a UUID{not_value}"
_LESS_TEXT = "must have at most {max_length} characters"

#: By pydantic's type of error. Types that are missing here get a general message.
_WORDS: Mapping[str, str] = {
    "missing": "is required",
    "greater_than": "must be more than {gt}{not_value}",
    "greater_than_equal": "must be at least {ge}{not_value}",
    "less_than": "must be less than {lt}{not_value}",
    "less_than_equal": "must be at most {le}{not_value}",
    "multiple_of": "must be a multiple of {multiple_of}{not_value}",
    "too_short": "needs at least {min_length} entries",
    "too_long": "takes at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": _LESS_TEXT,
    "string_pattern_mismatch": "must look like {pattern}{not_value}",
    "none_required": "must be left empty",
    "union_tag_not_found": "needs {discriminator}",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}",
    "url_scheme": "the URL must begin with {expected_schemes}{not_value}",
    "url_too_long": _LESS_TEXT,
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "deque_type", "iterable_type"), _LIST),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type", "dataclass_exact_type"),
        _SECTION,
    ),
    **dict.fromkeys(("bool_type", "bool_parsing"), _BOOL),
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), _WHOLE),
    **dict.fromkeys(
        ("float_type", "float_parsing", "finite_number", "decimal_type", "decimal_parsing", "fraction_type"), _NUMBER
    ),
    **dict.fromkeys(("string_type", "string_unicode", "bytes_type"), _TEXT),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), _DATE),
    **dict.fromkeys(("time_type", "time_parsing"), _TIME),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _MOMENT),
    **dict.fromkeys(("time_delta_type", "time_delta_parsing"), _SPAN),
    **dict.fromkeys(("url_type", "url_parsing", "url_syntax_violation"), _URL),
    **dict.fromkeys(("uuid_type", "uuid_parsing", "uuid_version"), _UUID),
}
_KNOWN_TYPES = frozenset(get_args(ErrorType))


def describe(error: ErrorDetails, *, secret: bool = False) -> str:
    """Return what is wrong with a value and what is allowed, as the end of a sentence about its setting.

    The message does not quote a *secret* value.
    """
    kind, context, value = error["type"], error.get("ctx", {}), error.get("input")
    not_value = "" if secret else f", not {written(value)}"
    if kind in ("value_error", "assertion_error"):
        return str(context["error"]) or "is not allowed"
    if kind in ("literal_error", "enum"):
        allowed = re.findall(r"'([^']*)'", str(context["expected"])) or [str(context["expected"])]
        hint = suggestion(value, allowed) if isinstance(value, str) else ""
        choice = f"must be {allowed[0]}" if len(allowed) == 1 else f"must be one of {', '.join(allowed)}"
        return choice + not_value + (hint if hint.endswith("?") and len(allowed) > 1 else "")
    if kind == "string_too_short" and context["min_length"] == 1:
        return "must not be empty"
    if kind in _WORDS:
        quote = ": put it in quotes" if isinstance(value, int | float) else ""
        bounds = {name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in context.items()}
        return _WORDS[kind].format(not_value=not_value, quote=quote, **bounds)
    if kind in _KNOWN_TYPES:
        return f"this value is not allowed here{not_value}"
    # A custom type of error has its own message.
    return re.sub(r"^(Input|value)\b", "this value", error["msg"])


def written(value: object) -> str:
    """Return *value* as it looks in YAML, in short form."""
    match value:
        case bool():
            return "true" if value else "false"
        case None:
            return "nothing"
        case str():
            return f'"{value}"'
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list"
    return str(value)


def suggestion(name: str, allowed: Iterable[str]) -> str:
    """Return ``; did you mean x?``, or else ``; allowed: a, b``, to end a sentence about the wrong *name*."""
    names = list(allowed)
    match = nearest(name, names)
    if match is not None:
        return f"; did you mean {match}?"
    return f"; allowed: {', '.join(names)}" if names else ""
