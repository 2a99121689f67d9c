"""Read-only containers: what several readers share, none of them can change for the others."""

from collections.abc import Callable, Iterable, Mapping
from operator import is_
from typing import Any, Never, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

K = TypeVar("K")
V = TypeVar("V")


class FrozenDict(dict[K, V]):
    """A dict that refuses changes. ``dict(it)`` is a copy that takes them, and so is ``it | {...}``.

    It is a `dict` in every other way: equal to one, and written as one by msgspec, `json` and `pickle`.
    """

    __slots__ = ()

    def _refuse(self, *_: object, **__: object) -> Never:
        raise TypeError("this mapping is read-only, as others use it, too: change a copy, such as dict(mapping)")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Callable[[dict[K, V]], "FrozenDict[K, V]"], tuple[dict[K, V]]]:
        return _of, (dict(self),)


#: Whether values of a type can change, by the types that were seen.
_CHANGEABLE: dict[type, bool] = {}
#: The default of mappings of structs. They leave it out of their JSON by its identity.
EMPTY: FrozenDict[Any, Any] = FrozenDict()


def _of(mapping: dict[K, V]) -> FrozenDict[K, V]:
    return FrozenDict(mapping) if mapping else EMPTY


def frozen(value: Any) -> Any:
    """Return a mapping, list or tuple in read-only form, all the way down; any other value as it is."""
    kind = type(value)
    if not _can_change(kind):
        return value
    if issubclass(kind, Mapping):
        return FrozenDict(value if _is_flat(value.values()) else {key: frozen(each) for key, each in value.items()})
    if _is_flat(value):
        return tuple(value)
    items = tuple(map(frozen, value))
    return value if kind is tuple and all(map(is_, items, value)) else items


def _can_change(kind: type) -> bool:
    known = _CHANGEABLE.get(kind)
    if known is None:
        known = _CHANGEABLE[kind] = kind is not FrozenDict and issubclass(kind, (Mapping, list, tuple))
    return known


def _is_flat(values: Iterable[object]) -> bool:
    """Tell whether nothing among *values* can change, by their types: there may be very many of few types."""
    return not any(map(_can_change, set(map(type, values))))


def freeze(struct: Struct, *names: str) -> None:
    """Make mappings of plain values read-only, given the names of their fields. For ``__post_init__`` of structs."""
    # Objects are decoded by the thousands.
    for name in names:
        value = getattr(struct, name)
        kind = type(value)
        if kind is dict:
            force_setattr(struct, name, FrozenDict(value) if value else EMPTY)
        elif kind is not FrozenDict:
            force_setattr(struct, name, frozen(value) or EMPTY)


def freeze_nested(struct: Struct, *names: str) -> None:
    """Make mappings of any depth, and lists, read-only, given the names of their fields: for structs, as `freeze`."""
    for name in names:
        value = getattr(struct, name)
        if value is not None:
            force_setattr(struct, name, frozen(value))


def freeze_fields(value: object, *names: str) -> None:
    """Make mappings and lists of a frozen dataclass read-only, given their fields. For ``__post_init__``."""
    for name in names:
        was = getattr(value, name)
        if type(was) is not FrozenDict:
            object.__setattr__(value, name, frozen(was))
