"""Strategic merge patches: merge patches that know how the lists of built-in resources merge.

Lists of well-known fields merge by a key of their items, some lists of plain values merge as sets, every other list
is replaced. The order that ``$setElementOrder`` asks for is not established: known items keep their place, new ones
come last.
"""

from typing import Any

from nodewright_fake.apiserver.document import copied
from nodewright_fake.apiserver.status import bad_request

#: The key of the items, by the name of the list. Where items of one name differ, the first key that they have.
_MERGE_KEYS: dict[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "hostIPs": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "podIPs": ("ip",),
    "ports": ("containerPort", "port"),
    "resourceClaims": ("name",),
    "resourceClaimStatuses": ("name",),
    "schedulingGates": ("name",),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
#: Lists of plain values that merge as sets.
_SETS = frozenset({"finalizers", "podCIDRs"})

_DELETE_FROM = "$deleteFromPrimitiveList/"
_RETAIN = "$retainKeys"
_DIRECTIVE = "$patch"


def strategic_merge(target: dict[str, Any], patch: dict[str, Any]) -> None:
    """Apply *patch* to *target* in place. Raises `StatusError` 400 for directives that make no sense."""
    directive = patch.get(_DIRECTIVE)
    if directive in ("replace", "delete"):
        target.clear()
        if directive == "replace":
            target.update(copied({key: value for key, value in patch.items() if key != _DIRECTIVE}))
        return
    for key, value in patch.items():
        if key.startswith(_DELETE_FROM):
            field = key.removeprefix(_DELETE_FROM)
            if field in target:
                target[field] = [item for item in target[field] if item not in value]
        elif not key.startswith("$"):
            _merge_field(target, key, value)
    if _RETAIN in patch:
        for key in target.keys() - set(patch[_RETAIN]):
            del target[key]


def _merge_field(target: dict[str, Any], key: str, value: Any) -> None:
    if value is None:
        target.pop(key, None)
    elif isinstance(value, dict):
        if value.get(_DIRECTIVE) == "delete":
            target.pop(key, None)
            return
        inner = target.get(key)
        if not isinstance(inner, dict):
            inner = target[key] = {}
        strategic_merge(inner, value)
    elif isinstance(value, list):
        target[key] = _merged_list(key, target.get(key) or [], value)
    else:
        target[key] = value


def _merged_list(field: str, current: list[Any], patch: list[Any]) -> list[Any]:
    if field in _SETS:
        return [*current, *(item for item in patch if item not in current)]
    if not all(isinstance(item, dict) for item in (*current, *patch)):
        return list(patch)
    if any(item.get(_DIRECTIVE) == "replace" for item in patch):
        return [_without_directives(item) for item in patch if item.get(_DIRECTIVE) != "replace" or len(item) > 1]
    if field not in _MERGE_KEYS:
        return [_without_directives(item) for item in patch]
    merged: list[Any] = list(current)
    for item in patch:
        key = _key_of(field, item)
        position = next((at for at, other in enumerate(merged) if other.get(key) == item[key]), None)
        if item.get(_DIRECTIVE) == "delete":
            if position is not None:
                del merged[position]
        elif position is None:
            merged.append(_without_directives(item))
        else:
            strategic_merge(merged[position], item)
    return merged


def _key_of(field: str, item: dict[str, Any]) -> str:
    for key in _MERGE_KEYS[field]:
        if key in item:
            return key
    raise bad_request(f"map: {item} does not contain declared merge key: {_MERGE_KEYS[field][0]}")


def _without_directives(item: dict[str, Any]) -> dict[str, Any]:
    """Return what a new item of a list becomes: its patch applied to nothing."""
    made: dict[str, Any] = {}
    strategic_merge(made, {key: value for key, value in item.items() if key != _DIRECTIVE})
    return made
