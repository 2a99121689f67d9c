"""Patches of all kinds, applied to plain JSON values."""

from collections.abc import Callable
from typing import Any

from nodewright_fake.apiserver.document import Object, copied
from nodewright_fake.apiserver.request import parsed
from nodewright_fake.apiserver.status import StatusError, bad_request, unsupported_media_type
from nodewright_fake.apiserver.strategic import strategic_merge

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

#: Changes an object in place.
Patch = Callable[[Object], None]


def patch_of(media_type: str, body: bytes, *, custom: bool) -> Patch:
    """Return the change that the body of a PATCH request asks for. Raises `StatusError` 400, 415, and 422 on use.

    Custom resources know no strategic merge, as there is nothing that says how their lists merge. Server-side apply
    merges what is stated, strategically for built-in resources; no fields are managed, so a field that a later
    application leaves out stays, and no conflict between appliers is ever found.
    """
    kinds = (JSON_PATCH, MERGE_PATCH, APPLY) if custom else (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY)
    if media_type not in kinds:
        raise unsupported_media_type(media_type, kinds)
    stated = parsed(body)
    if media_type == JSON_PATCH:
        if not isinstance(stated, list):
            raise bad_request("a JSON patch is a list of operations")
        return lambda target: _apply_operations(target, stated)
    if not isinstance(stated, dict):
        raise bad_request("a merge patch is an object")
    if media_type == STRATEGIC_PATCH or (media_type == APPLY and not custom):
        return lambda target: strategic_merge(target, stated)
    return lambda target: merge(target, stated)


def merge(target: dict[str, Any], patch: dict[str, Any]) -> None:
    """Apply a JSON merge patch: null removes, objects merge, everything else replaces."""
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict):
            inner = target.get(key)
            if not isinstance(inner, dict):
                inner = target[key] = {}
            merge(inner, value)
        else:
            target[key] = copied(value)


def _apply_operations(target: Object, operations: list[Any]) -> None:
    for operation in operations:
        try:
            _apply(target, operation)
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            message = f"the server rejected our request due to an error in our request: {operation!r}: {_why(error)}"
            raise StatusError(422, "Invalid", message) from None


def _why(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return str(error)


def _apply(target: Object, operation: dict[str, Any]) -> None:
    path = _pointer(operation["path"])
    match operation["op"]:
        case "add":
            _add(target, path, copied(operation["value"]))
        case "remove":
            _remove(target, path)
        case "replace":
            _remove(target, path)
            _add(target, path, copied(operation["value"]))
        case "move":
            moved = _remove(target, _pointer(operation["from"]))
            _add(target, path, moved)
        case "copy":
            _add(target, path, copied(_find(target, _pointer(operation["from"]))))
        case "test":
            if _find(target, path) != operation["value"]:
                raise ValueError(f"testing value {operation['path']} failed")
        case unknown:
            raise ValueError(f"unknown operation {unknown!r}")


def _pointer(text: str) -> list[str]:
    if not text.startswith("/"):
        raise ValueError(f"the path {text!r} does not start with a slash")
    return [part.replace("~1", "/").replace("~0", "~") for part in text[1:].split("/")]


def _find(value: Any, path: list[str]) -> Any:
    for part in path:
        value = value[_position(value, part)] if isinstance(value, list) else value[part]
    return value


def _add(target: Any, path: list[str], value: Any) -> None:
    parent, last = _find(target, path[:-1]), path[-1]
    if isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _position(parent, last, end=True), value)
    else:
        parent[last] = value


def _remove(target: Any, path: list[str]) -> Any:
    parent, last = _find(target, path[:-1]), path[-1]
    return parent.pop(_position(parent, last)) if isinstance(parent, list) else parent.pop(last)


def _position(items: list[Any], part: str, *, end: bool = False) -> int:
    position = int(part)
    if not 0 <= position < len(items) + end:
        raise IndexError(f"there is no item {part} in a list of {len(items)}")
    return position
