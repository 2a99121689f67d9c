"""Shapes: checks that a value that comes from a plugin is what its type says, all the way down.

A shape is made once from the annotations of a class of the contract, a frozen dataclass or a struct of `objects`. It
returns the value read-only: the same one if there is nothing to change about it, so that an unchanged value keeps its
identity from loop to loop.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property, lru_cache
from operator import attrgetter, is_
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from nodewright.api import Estimate, GroupFacts, Option
from nodewright.objects.frozen import FrozenDict
from nodewright.objects.quantity import MOST
from nodewright.plugins.plain_values import (
    ANYTHING,
    DURATION,
    FUNCTION,
    NONE,
    NOTHING,
    NUMBER,
    TEXT,
    TIME,
    TRUTH,
    Check,
    ShapeError,
    Trusted,
    instance,
    one,
    whole,
)

#: The whole numbers that count something. All others may be negative.
_COUNTS: Mapping[type, frozenset[str]] = {
    GroupFacts: frozenset({"min_size", "max_size", "target_size", "available"}),
    Option: frozenset({"nodes", "limit"}),
    Estimate: frozenset({"nodes"}),
}
_UNITS = {"cpu": "milli-cores", "memory": "bytes", "ephemeral-storage": "bytes"}


class _AnyOf(Check):
    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = sorted(checks, key=lambda check: check is NONE)
        self.wanted = " or ".join(check.wanted for check in self._checks)
        self.fine = frozenset().union(*(check.fine for check in checks))

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        error: ShapeError | None = None
        for check in self._checks:
            try:
                return check(value, trusted)
            except ShapeError as failure:
                # What is wrong inside says more than that the value is of another type.
                error = failure if failure.path else error
        raise error or self.refuse(value)

    def fits_all(self, values: Collection[object]) -> bool:
        """Tell whether *values* are all fine, or those that are not are all of one of the types."""
        others = [value for value in values if type(value) not in self.fine]
        return not others or any(check.fits_all(others) for check in self._checks)


class _Mapping(Check):
    def __init__(self, of: Callable[[str], Check]) -> None:
        self.wanted = "a mapping"
        self._of = of
        #: If the check is the same for all keys.
        self._plain = of("").fine if of("") is of("cpu") else frozenset()

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, Mapping):
            raise self.refuse(value)
        was = value if isinstance(value, dict) else dict(value)
        changed = False
        for key, item in was.items():
            if type(key) is not str:
                raise ShapeError(key, "text as a key").under(f"[{key!r}]")
            if not key.isascii():
                TEXT(key)
            if type(item) not in self._plain:
                try:
                    checked = self._of(key)(item, trusted)
                except ShapeError as error:
                    raise error.under(f"[{key!r}]") from None
                changed = changed or checked is not item
        if type(value) is FrozenDict and not changed:
            return value
        return FrozenDict({key: self._of(key)(item, trusted) for key, item in was.items()} if changed else was)


class _Tuple(Check):
    def __init__(self, item: Check) -> None:
        self.wanted = "a list or tuple"
        self._item = item

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise self.refuse(value)
        items = value if type(value) is tuple else tuple(value)
        if self._item.fits_all(items):
            return items
        checked = []
        for number, item in enumerate(items):
            try:
                checked.append(self._item(item, trusted))
            except ShapeError as error:
                raise error.under(f"[{number}]") from None
        return items if all(map(is_, checked, items)) else tuple(checked)


class _Set(Check):
    def __init__(self, item: Check) -> None:
        self.wanted = "a set"
        self._item = item

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, set | frozenset | list | tuple):
            raise self.refuse(value)
        return frozenset(self._item(item, trusted) for item in value)


class Shape(Check):
    """One of a class of the contract, with everything in it."""

    def __init__(self, kind: type) -> None:
        self.kind = kind
        self.wanted = one(kind.__name__)

    @cached_property
    def parts(self) -> Mapping[str, Check]:
        """The check of each field."""
        hints = get_type_hints(self.kind, include_extras=True)
        kind: Any = self.kind
        names = kind.__struct_fields__ if issubclass(kind, Struct) else [each.name for each in fields(kind)]
        counts = _COUNTS.get(self.kind, frozenset())
        return {name: _count_of(hints[name]) if name in counts else check_of(hints[name]) for name in names}

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        """Return *value* with all of its parts checked: itself, if no part had to be changed."""
        if not isinstance(value, self.kind):
            raise self.refuse(value)
        if (self, id(value)) in trusted:
            return value
        checked = {}
        same = type(value) is self.kind
        for name, check in self.parts.items():
            part = getattr(value, name)
            if type(part) in check.fine or (check, id(part)) in trusted:
                checked[name] = part
                continue
            try:
                checked[name] = check(part, trusted)
            except ShapeError as error:
                raise error.under(name) from None
            same = same and checked[name] is part
        return value if same else self.kind(**checked)

    def trust(self, given: Iterable[object]) -> Trusted:
        """Return *given* values, and their fields, as trusted: what a plugin returns unchanged needs no second look."""
        return frozenset(
            pair
            for value in given
            for pair in ((self, id(value)), *((check, id(getattr(value, name))) for name, check in self.parts.items()))
        )

    def fits_all(self, values: Collection[object]) -> bool:
        """Tell whether *values* are all as they must be, field by field over all of them: there may be very many."""
        return set(map(type, values)) == {self.kind} and all(
            check.fits_all(list(map(attrgetter(name), values))) for name, check in self.parts.items()
        )


@cache
def check_of(hint: Any) -> Check:
    """Return the check of what is annotated with *hint*; there is one for equal hints."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return check_of(arguments[0])
    if origin in (Union, UnionType):
        return _AnyOf([check_of(each) for each in arguments])
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is tuple or origin is Sequence:
        return _Tuple(check_of(arguments[0]))
    if origin is frozenset:
        return _Set(check_of(arguments[0]))
    if origin in (dict, Mapping):
        item = check_of(arguments[1])
        return _Mapping(_amount if arguments[1] is int else lambda _: item)
    if origin is Callable:
        return FUNCTION
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Struct)):
        return Shape(hint)
    assert isinstance(hint, type), f"there is no check for {hint}"
    return instance(hint)


def shape_of(kind: type) -> Shape | None:
    """Return the shape of a class of the contract; None for any other class."""
    check = check_of(kind) if is_dataclass(kind) or issubclass(kind, Struct) else None
    return check if isinstance(check, Shape) else None


@lru_cache(maxsize=1024)
def _amount(resource: str) -> Check:
    return whole(least=0, most=MOST, unit=_UNITS.get(resource, ""))


_COUNT = whole(least=0)
_COUNT_OR_NONE = _AnyOf([_COUNT, NONE])


def _count_of(hint: Any) -> Check:
    return _COUNT if hint is int else _COUNT_OR_NONE


_PLAIN: Mapping[Any, Check] = {
    str: TEXT,
    bool: TRUTH,
    int: whole(),
    float: NUMBER,
    datetime: TIME,
    timedelta: DURATION,
    NoneType: NONE,
    Any: ANYTHING,
    object: ANYTHING,
}
