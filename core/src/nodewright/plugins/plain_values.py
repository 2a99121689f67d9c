"""Plain values: checks that text, numbers, times and the like from a plugin are what they must be."""

from collections.abc import Collection
from datetime import datetime, timedelta
from enum import Enum
from math import isfinite
from operator import index
from types import NoneType
from typing import Any, cast

from nodewright.objects.quantity import MOST

#: Times and durations are added up: a sum must not leave the calendar.
_LONGEST = timedelta(days=100 * 365)
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
        self._least, self._most = least, most
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
        self.wanted = one(kind.__name__)
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


def whole(*, least: int | None = None, most: int | None = None, unit: str = "") -> Check:
    """Expect a whole number within these bounds; messages name the *unit*."""
    return _Whole(least=least, most=most, unit=unit)


def instance(kind: type) -> Check:
    """Expect one of *kind*, which is not looked into."""
    return _Instance(kind)


#: Text that can be written as UTF-8.
TEXT: Check = _Text()
#: True or False.
TRUTH: Check = _Truth()
#: A number that can be multiplied and added up.
NUMBER: Check = _Number()
#: A time with a zone.
TIME: Check = _Time()
DURATION: Check = _Duration()
#: None, and nothing else.
NONE: Check = _Nothing()
FUNCTION: Check = _Callable()
ANYTHING: Check = _Anything()


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return f"text ({value[:_QUOTED]!r}{'…' if len(value) > _QUOTED else ''})"
    if type(value) is int or type(value) is float:
        return f"{one(type(value).__name__)} ({value})"
    return one(type(value).__name__)


def one(name: str) -> str:
    """Return *name* with its article."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
