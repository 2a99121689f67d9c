"""Lists as the API cuts them: filters, pages and fields."""

import operator
import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from nodewright_gce.testing.messages import invalid

_FILTER = re.compile(
    r"\s*(?P<field>[\w.]+)\s*(?P<how>\beq\b|\bne\b|>=|<=|!=|=|<|>)\s*(?P<quote>['\"]?)(?P<value>.*?)(?P=quote)\s*"
)
_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda text, pattern: re.fullmatch(pattern, text) is not None,
    "ne": lambda text, pattern: re.fullmatch(pattern, text) is None,
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_LARGEST = 500


def page_of(
    items: Sequence[Mapping[str, Any]], arguments: Mapping[str, Any], *, longest: int = _LARGEST, key: str = "items"
) -> dict[str, Any]:
    """Return the page of *items* that *arguments* ask for."""
    asked = int(arguments.get("maxResults", _LARGEST))
    if not 0 <= asked <= _LARGEST:
        raise invalid(f"Invalid value for field 'maxResults': '{asked}'. Values must be between 0 and {_LARGEST}.")
    start = _start(str(arguments.get("pageToken", "")))
    matching = matches(items, str(arguments.get("filter", "")))
    end = start + max(1, min(asked or _LARGEST, longest))
    page: dict[str, Any] = {key: matching[start:end]} if matching[start:end] else {}
    if end < len(matching):
        page["nextPageToken"] = f"from-{end}"
    return page


def matches(items: Sequence[Mapping[str, Any]], filter_: str) -> list[Mapping[str, Any]]:
    """Return the items that a filter lets through; the expression of ``eq`` and ``ne`` is for the whole value."""
    if not filter_:
        return list(items)
    match = _FILTER.fullmatch(filter_)
    if match is None:
        raise invalid(f"Invalid value for field 'filter': '{filter_}'. Invalid list filter expression.")
    compare = _COMPARISONS[match["how"]]
    value = _comparable(match["value"])
    return [each for each in items if compare(_comparable(str(each.get(match["field"], ""))), value)]


def select(body: Mapping[str, Any], fields: str) -> Mapping[str, Any]:
    """Return what ``fields`` selects, such as ``items(name,status/isStable),nextPageToken``."""
    return _pick(body, _parse(fields)) if fields else body


def _comparable(text: str) -> str | datetime:
    """The time that *text* is, if it is one."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text


def _start(token: str) -> int:
    if not token:
        return 0
    if not re.fullmatch(r"from-\d+", token):
        raise invalid(f"Invalid value for field 'pageToken': '{token}'.")
    return int(token.removeprefix("from-"))


def _parse(fields: str) -> dict[str, Any]:
    """The tree of a selection; an empty one is everything below."""
    words = deque(re.findall(r"[^(),/]+|[(),/]", fields.replace(" ", "")))
    tree = _parse_list(words)
    if words:
        raise invalid(f"Invalid field selection {fields}")
    return tree


def _parse_list(words: deque[str]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    while words and words[0] not in "(),/":
        name = words.popleft()
        below: dict[str, Any] = tree.setdefault(name, {})
        if words and words[0] == "/":
            words.popleft()
            path = words.popleft()
            words.appendleft(path)
            below.update(_parse_list(words))
            continue
        if words and words[0] == "(":
            words.popleft()
            below.update(_parse_list(words))
            if not words or words.popleft() != ")":
                raise invalid("Invalid field selection: ')' is missing")
        if words and words[0] == ",":
            words.popleft()
    return tree


def _pick(value: Any, tree: Mapping[str, Any]) -> Any:
    if not tree:
        return value
    if isinstance(value, list | tuple):
        return [_pick(each, tree) for each in value]
    if not isinstance(value, Mapping):
        return value
    if "*" in tree:
        return {key: _pick(each, tree["*"]) for key, each in value.items()}
    return {key: _pick(value[key], below) for key, below in tree.items() if key in value}
