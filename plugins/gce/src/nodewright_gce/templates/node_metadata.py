"""Metadata of our own: what neither ``kube-env`` nor this plugin can find out about new nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nodewright.api import Taint, nearest

from nodewright_gce.templates.values import ValueReader

_PREFIX = "nodewright-"
_KEYS = ("labels", "taints", "capacity", "reserved", "max-pods", "options", "min-size", "max-size")


@dataclass(frozen=True, kw_only=True)
class NodeMetadata:
    """What the metadata of a group says about its nodes and its size."""

    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    #: Resources beside those of the machine, or in their place.
    capacity: Mapping[str, int] = field(default_factory=dict)
    #: What kubelets keep for themselves and the system; None if it does not say.
    reserved: Mapping[str, int] | None = None
    max_pods: int | None = None
    #: Values for fields of `nodewright.api.GroupOptions`.
    options: Mapping[str, Any] = field(default_factory=dict)
    min_size: int | None = None
    max_size: int | None = None
    #: Entries that were ignored and why, each in a sentence.
    mistakes: tuple[str, ...] = ()


def read_node_metadata(metadata: Mapping[str, str]) -> NodeMetadata:
    """Return what *metadata* says under keys that begin with ``nodewright-``.

    What can't be parsed is ignored and listed as a mistake.
    """
    reader = ValueReader()
    values = {key: value for key, value in metadata.items() if key.startswith(_PREFIX)}
    for key in sorted(values.keys() - {_PREFIX + key for key in _KEYS}):
        meant = nearest(key.removeprefix(_PREFIX), _KEYS)
        names = _PREFIX + meant if meant else ", ".join(_PREFIX + key for key in _KEYS)
        reader.add(f"metadata {key}", f"it is ignored, as there is no such key: write {names}")

    def text(key: str) -> tuple[str, str]:
        return f"metadata {_PREFIX}{key}", values.get(_PREFIX + key, "")

    def number(key: str, least: int) -> int | None:
        return reader.number(*text(key), least=least) if _PREFIX + key in values else None

    min_size, max_size = number("min-size", 0), number("max-size", 1)
    if min_size is not None and max_size is not None and min_size > max_size:
        reader.add(*_contradiction(min_size, max_size))
        min_size = max_size = None
    return NodeMetadata(
        labels=reader.labels(*text("labels")),
        taints=reader.taints(*text("taints")),
        capacity=reader.amounts(*text("capacity")),
        reserved=reader.amounts(*text("reserved")) if _PREFIX + "reserved" in values else None,
        max_pods=number("max-pods", 1),
        options=reader.options(*text("options")),
        min_size=min_size,
        max_size=max_size,
        mistakes=tuple(reader.mistakes),
    )


def _contradiction(min_size: int, max_size: int) -> tuple[str, str]:
    return (
        f"metadata {_PREFIX}min-size and {_PREFIX}max-size",
        f"they are ignored, as {min_size} is more than {max_size}",
    )
