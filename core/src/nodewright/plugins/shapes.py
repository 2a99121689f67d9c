"""Shapes: checks that a value that comes from a plugin is what its type says, all the way down.

A shape is made once from the annotations of a class of the contract, a frozen dataclass or a struct of `objects`. It
returns the value read-only: the same one if there is nothing to change about it, so that an unchanged value keeps its
identity from loop to loop.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from functools import cache, cached_property, lru_cache
from math import isfinite
from operator import attrgetter, index, is_
from types import NoneType, UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin, get_type_hints

from msgspec import Struct

from nodewright.api import Estimate, GroupFacts, Option
from nodewright.objects.frozen import FrozenDict
from nodewright.objects.quantity import MOST

#: The whole numbers that count something. All others may be negative.
_COUNTS: Mapping[type, frozenset[str]] = {
    GroupFacts: frozenset({"min_size", "max_size", "target_size"}),
    Option: frozenset({"nodes", "limit"}),
    Estimate: frozenset({"nodes"}),
}
#: Times and durations are added up: a sum must not leave the calendar.
_LONGEST = timedelta(days=100 * 365)
_UNITS = {"cpu": "milli-cores", "memory": "bytes", "ephemeral-storage": "bytes"}
#: How much of a text is quoted.
_QUOTED = 40

#: Parts that need no look: the check that they would get, and their identity. Whoever trusts them keeps them alive.
Trusted = frozenset[tuple[object, int]]
NOTHING: Trusted = frozenset()


class ShapeError(TypeError):
    """A value, or a part of it at `path`, is not what it must be."""

    def __init__(self, found: object, wanted: str, path: str = "") -> None:
        self.path = path
        self._found = found
        self._wanted = wanted

    def under(self, part: str) -> "ShapeError":
        """Return the same error as seen from what contains the value as *part*: a field, or an item in brackets."""
        joint = "." if self.path and not self.path.startswith("[") else ""
        return ShapeError(self._found, self._wanted, f"{part}{joint}{self.path}")

    def __str__(self) -> str:
        problem = f"is {_shown(self._found)}, not {self._wanted}"
        return f"{self.path} {problem}" if self.path else problem


class Check:
    """Returns a value as it must be, or raises `ShapeError`. There is one object for each annotation."""

    #: In messages.
    wanted = ""
    #: Values of exactly these types need no closer look.
    fine: frozenset[type] = frozenset()

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        """Return *value*, read-only; what is *trusted* is not looked at."""
        raise NotImplementedError

    def fits_all(self, values: Collection[object]) -> bool:
        """Tell, fast, whether *values* are all as they must be. If not, one may only have to be looked at closely."""
        return set(map(type, values)) <= self.fine

    def refuse(self, value: object) -> ShapeError:
        """Return the error that *value* is something else."""
        return ShapeError(value, self.wanted)


class _Text(Check):
    wanted = "text"

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, str):
            raise self.refuse(value)
        # Text of another class may not be what it seems, and can't be written to JSON.
        text = str.__str__(value)
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError:
                raise ShapeError(value, "text that can be written as UTF-8") from None
        return text

    def fits_all(self, values: Collection[object]) -> bool:
        """Tell, fast, whether *values* are all plain text that can be written."""
        return set(map(type, values)) <= {str} and all(map(str.isascii, cast("Collection[str]", values)))


class _Truth(Check):
    wanted = "True or False"
    fine = frozenset({bool})

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value


class _Whole(Check):
    def __init__(self, *, least: int | None = None, most: int | None = None, unit: str = "") -> None:
        self.wanted = f"a whole number ({unit})" if unit else "a whole number"
        self._least, self._most, self._unit = least, most, unit
        self.fine = frozenset({int}) if least is None and most is None else frozenset()

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        number = value if type(value) is int else self._converted(value)
        if (self._least is not None and number < self._least) or (self._most is not None and number > self._most):
            bounds = f"from {self._least} on" if self._most is None else f"from {self._least} to {self._most}"
            raise ShapeError(value, f"{self.wanted} {bounds}")
        return number

    def _converted(self, value: Any) -> int:
        """Return the whole number of another class, such as numpy's, as an `int`."""
        if isinstance(value, bool):
            raise self.refuse(value)
        try:
            return index(value)
        except TypeError:
            raise self.refuse(value) from None


class _Number(Check):
    wanted = "a finite number"

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        if isinstance(value, float) and not isfinite(value):
            raise self.refuse(value)
        # Prices are multiplied and added up: a sum must not become infinite.
        if abs(value) > MOST:
            raise ShapeError(value, f"a number from {-MOST} to {MOST}")
        return value if type(value) is int else float(value)


class _Time(Check):
    wanted = "a datetime with a time zone, such as datetime.now(UTC)"

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, datetime) or value.tzinfo is None:
            raise self.refuse(value)
        return value


class _Duration(Check):
    wanted = f"a timedelta of up to {_LONGEST.days // 365} years"

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, timedelta) or abs(value) > _LONGEST:
            raise self.refuse(value)
        return value


class _Nothing(Check):
    wanted = "None"
    fine = frozenset({NoneType})

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if value is not None:
            raise self.refuse(value)
        return value


class _Instance(Check):
    """One of a class that is not looked into."""

    def __init__(self, kind: type) -> None:
        self.wanted = _one(kind.__name__)
        self._kind = kind
        self.fine = frozenset({kind})

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not isinstance(value, self._kind):
            raise self.refuse(value)
        return value

    def refuse(self, value: object) -> ShapeError:
        """Return the error; text that stands for a member of an enum is told which one."""
        if issubclass(self._kind, Enum) and isinstance(value, str):
            member = next((each for each in self._kind if each.value == value or each.name == value), None)
            if member is not None:
                return ShapeError(value, f"{self.wanted}: write {self._kind.__name__}.{member.name}")
        return super().refuse(value)


class _Callable(Check):
    wanted = "a function"

    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        if not callable(value):
            raise self.refuse(value)
        return value


class _Anything(Check):
    def __call__(self, value: Any, trusted: Trusted = NOTHING) -> Any:
        return value


class _AnyOf(Check):
    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = sorted(checks, key=lambda check: isinstance(check, _Nothing))
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
                _TEXT(key)
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
        self.wanted = _one(kind.__name__)

    @cached_property
    def parts(self) -> Mapping[str, Check]:
        """The check of each field."""
        hints = get_type_hints(self.kind, include_extras=True)
        kind: Any = self.kind
        names = kind.__struct_fields__ if issubclass(kind, Struct) else [each.name for each in fields(kind)]
        counts = _COUNTS.get(self.kind, frozenset())
        return {name: _COUNT if name in counts else check_of(hints[name]) for name in names}

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
        return _Callable()
    if isinstance(hint, type) and (is_dataclass(hint) or issubclass(hint, Struct)):
        return Shape(hint)
    assert isinstance(hint, type), f"there is no check for {hint}"
    return _Instance(hint)


def shape_of(kind: type) -> Shape | None:
    """Return the shape of a class of the contract; None for any other class."""
    check = check_of(kind) if is_dataclass(kind) or issubclass(kind, Struct) else None
    return check if isinstance(check, Shape) else None


@lru_cache(maxsize=1024)
def _amount(resource: str) -> Check:
    return _Whole(least=0, most=MOST, unit=_UNITS.get(resource, ""))


_COUNT = _Whole(least=0)
_TEXT = _Text()
_PLAIN: Mapping[Any, Check] = {
    str: _TEXT,
    bool: _Truth(),
    int: _Whole(),
    float: _Number(),
    datetime: _Time(),
    timedelta: _Duration(),
    NoneType: _Nothing(),
    Any: _Anything(),
    object: _Anything(),
}


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return f"text ({value[:_QUOTED]!r}{'…' if len(value) > _QUOTED else ''})"
    if type(value) is int or type(value) is float:
        return f"{_one(type(value).__name__)} ({value})"
    return _one(type(value).__name__)


def _one(name: str) -> str:
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
