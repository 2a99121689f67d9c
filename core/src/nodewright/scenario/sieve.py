"""Sieves: what of an object gets into a picture. Fields that no sieve names stay out."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from nodewright.cluster.annotations import BUILT_IN, PodAnnotations
from nodewright.objects.node import DELETION_CANDIDATE, TO_BE_DELETED
from nodewright.objects.pod import MIRROR
from nodewright.scenario.names import Names, Role

#: Values of annotations that stay where names are hidden: switches, numbers, durations and times.
_PLAIN_NOTE = re.compile(
    r"(true|false|yes|on-completion)?|-?[0-9]+(\.[0-9]+)?[a-zA-Z]{0,2}|([0-9.]+(h|m|s|ms))+"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)"
)


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What a sieve knows besides the JSON: *annotations* of pods get through that tell."""

    names: Names
    #: The namespace of the object, and the pod that a volume belongs to.
    namespace: str = ""
    pod: str = ""
    annotations: PodAnnotations = BUILT_IN


#: Takes JSON and returns what it lets through; None for nothing.
Sieve = Callable[[Any, Scope], Any]


def whole(value: Any, scope: Scope) -> Any:
    """Let everything through."""
    return value


def presence(value: Any, scope: Scope) -> Any:
    """Let through only that something is there."""
    return {}


@dataclass(frozen=True)
class Record:
    """Lets the named *fields* of an object through, each through its sieve."""

    fields: Mapping[str, Sieve]

    def __call__(self, value: Any, scope: Scope) -> Any:
        """Return what is left of the object, without nulls."""
        kept = {}
        for name, through in self.fields.items():
            found = value.get(name)
            if found is not None and (found := through(found, scope)) is not None:
                kept[name] = found
        return kept


def record(plain: str = "", /, **fields: Sieve) -> Record:
    """Return the sieve for objects with *fields*, and with *plain* ones, separated by spaces, that pass whole."""
    return Record({**fields, **dict.fromkeys(plain.split(), whole)})


def each(through: Sieve, *, having: str = "") -> Sieve:
    """Let the items of a list through, each through a sieve; only items *having* a field, if one is named."""
    if having:
        return lambda value, scope: [through(item, scope) for item in value if item.get(having)] or None
    return lambda value, scope: [through(item, scope) for item in value]


def saying(through: Sieve, **defaults: Any) -> Sieve:
    """Write *defaults* for what is absent: programs that know no defaults may read the picture."""
    return lambda value, scope: {**defaults, **through(value, scope)}


def named(role: Role) -> Sieve:
    """Let a name through."""
    return lambda value, scope: scope.names.of(role, value)


def keyed(key: Sieve, through: Sieve = whole) -> Sieve:
    """Let a mapping through by names, which pass *key*, its values through a sieve."""
    return lambda value, scope: {key(name, scope): through(entry, scope) for name, entry in value.items()}


def hidden_as(word: str) -> Sieve:
    """Let a text through, and *word* in place of it where names are hidden."""
    return lambda value, scope: word if value and scope.names.hides else value


def claim_name(value: str, scope: Scope) -> str:
    """Let the name of a claim in the object's namespace through."""
    return scope.names.claim(scope.namespace, value)


def labels(value: dict[str, str], scope: Scope) -> dict[str, str]:
    """Let labels through."""
    return {key: scope.names.label(key, text) for key, text in value.items()}


def marked(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """Let a taint or a toleration through."""
    kept: dict[str, Any] = {name: value[name] for name in ("key", "operator", "effect") if name in value}
    if "value" in value:
        # The value of the autoscaler's own taints is the time when they were set.
        own = value.get("key") in (TO_BE_DELETED, DELETION_CANDIDATE)
        kept["value"] = value["value"] if own else scope.names.label(value.get("key", ""), value["value"])
    return kept


def requirement(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """Let a requirement of a selector through."""
    key, operator = value.get("key", ""), value.get("operator")
    if operator in ("Gt", "Lt"):
        scope.names.note_number(key)
    kept = {"key": key, "values": [scope.names.label(key, text) for text in value.get("values") or ()]}
    return kept if operator is None else kept | {"operator": operator}


def field_requirement(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """Let a requirement on names of nodes through."""
    return value | {"values": [scope.names.of(Role.NODE, text) for text in value.get("values") or ()]}


def owners(value: list[dict[str, Any]], scope: Scope) -> list[dict[str, Any]]:
    """Let the controller through, and no other owner."""
    return [_owner(entry, scope) for entry in value if entry.get("controller")]


def annotations(
    values: Mapping[str, Sieve] = MappingProxyType({}), *, prefixes: tuple[str, ...] = (), present: tuple[str, ...] = ()
) -> Sieve:
    """Let annotations through: *values* by name, all with *prefixes*, and that those *present* are there."""

    def sieve(value: dict[str, str], scope: Scope) -> Any:
        kept = {key: _note(key, text, scope) for key, text in value.items() if prefixes and key.startswith(prefixes)}
        kept |= {key: "" for key in present if key in value}
        kept |= {key: through(value[key], scope) for key, through in values.items() if key in value}
        return kept or None

    return sieve


def pod_annotations(value: dict[str, str], scope: Scope) -> Any:
    """Let those annotations of a pod through that tell, and that it is a mirror."""
    kept = {key: _note(key, text, scope) for key, text in scope.annotations.among(value).items()}
    return kept | ({MIRROR: ""} if MIRROR in value else {}) or None


def _owner(value: dict[str, Any], scope: Scope) -> dict[str, Any]:
    kind = value.get("kind", "")
    role = {"Node": Role.NODE, "Pod": Role.POD}.get(kind, Role.OWNER)
    return {
        "apiVersion": value.get("apiVersion", ""),
        "kind": kind,
        "name": scope.names.of(role, value.get("name", "")),
        "uid": scope.names.of(Role.UID, value.get("uid", "")),
        "controller": True,
    }


def _note(key: str, text: str, scope: Scope) -> str:
    if key.endswith("/safe-to-evict-local-volumes"):
        return ",".join(scope.names.of(Role.MOUNT, mount) for mount in text.split(","))
    if _PLAIN_NOTE.fullmatch(text):
        return text
    return scope.names.of(Role.VALUE, text)
