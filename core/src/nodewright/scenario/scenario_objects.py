"""Objects of a scenario: read one by one, so that an error names the one that is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from nodewright.api.errors import ConfigurationError, Problem
from nodewright.cluster.controllers import DAEMON_SET
from nodewright.config.wording import suggestion

T = TypeVar("T")

#: The lists of controllers, and what pods call those in them.
CONTROLLER_LISTS = {
    "replicaSets": "ReplicaSet",
    "replicationControllers": "ReplicationController",
    "statefulSets": "StatefulSet",
    "jobs": "Job",
    "daemonSets": DAEMON_SET,
}


def read_list(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return the list under *key*, empty if there is none; raises `ConfigurationError` if it is something else."""
    value = document.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise wrong(key, f"write a list, not {type(value).__name__}")
    return value


def read_mapping(document: Mapping[str, Any], key: str, place: str = "") -> dict[str, Any]:
    """Return the mapping under *key*, empty if there is none; raises `ConfigurationError` if it is something else."""
    value = document.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise wrong(place + key, f"write a mapping, not {type(value).__name__}")
    return value


def read_objects(document: Mapping[str, Any], key: str, kind: type[T]) -> tuple[T, ...]:
    """Return the Kubernetes objects under *key*; raises `ConfigurationError` that names the first malformed one."""
    return tuple(
        read_object(entry, kind, f"{key}[{index}]{_called(entry)}")
        for index, entry in enumerate(read_list(document, key))
    )


def read_object(entry: Any, kind: type[T], place: str) -> T:
    """Return *entry* as a *kind*; raises `ConfigurationError` that names *place* and the field."""
    try:
        return msgspec.convert(_without_null(entry), kind)
    except msgspec.ValidationError as error:
        raise wrong(place, str(error)) from None


def require_mapping(value: Any, place: str) -> None:
    """Raise `ConfigurationError` unless *value* is a mapping."""
    if not isinstance(value, Mapping):
        raise wrong(place, f"write a mapping, not {type(value).__name__}")


def refuse_unknown(document: Mapping[str, Any], known: Sequence[str], place: str) -> None:
    """Raise `ConfigurationError` that names the first key of *document* that is not *known*; *place* is before it."""
    for key in document:
        if key not in known:
            raise wrong(f"{place}{key}", f"unknown key{suggestion(key, list(known))}")


def wrong(place: str, message: str) -> ConfigurationError:
    """Return the error about *place* in a scenario."""
    return ConfigurationError(Problem(message=message, source="scenario", path=place))


def _called(entry: Any) -> str:
    """Return `` (namespace/name)`` of an object, as far as it has that."""
    metadata = entry.get("metadata") if isinstance(entry, Mapping) else None
    if not isinstance(metadata, Mapping) or not metadata.get("name"):
        return ""
    namespace = metadata.get("namespace")
    return f" ({namespace}/{metadata['name']})" if namespace else f" ({metadata['name']})"


def _without_null(value: Any) -> Any:
    """Return *value* without what is null: Go writes lists and maps so that are not set."""
    if isinstance(value, dict):
        return {key: _without_null(each) for key, each in value.items() if each is not None}
    return [_without_null(each) for each in value] if isinstance(value, list) else value
