"""The values that pass between Nodewright and a plugin's process.

Values are pickled. Nodewright may send anything. What comes back is read with an unpickler that makes nothing but
values of the contract, plain containers and times: a plugin can't have code run here.

Values that Nodewright has sent once (nodes, pods, options, ...) have numbers: they are not sent again, and one that
comes back is the very same object.
"""

import builtins
import datetime
import io
import pickle
import time
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from random import Random
from typing import Any, NoReturn

import msgspec

from nodewright.api import (
    GroupFacts,
    Node,
    NodeTemplate,
    NodewrightError,
    Option,
    Pod,
    PodSet,
    PricingModel,
)
from nodewright.api.placement import Placement
from nodewright.objects.frozen import FrozenDict
from nodewright.plugins.isolation.channel import GarbageError

#: Values that keep their identity. They are read-only, so that sending them once is enough.
_NUMBERED = frozenset({GroupFacts, Node, NodeTemplate, Option, Pod, PodSet})
#: How long a value is remembered after it was last used, at least.
_KEEP_SECONDS = 30.0
#: What msgspec pickles a struct with keyword arguments with.
_rebuild = Pod().__reduce__()[0]
_OURS = ("nodewright.api.", "nodewright.objects.")
_PLAIN = {
    ("builtins", name): getattr(builtins, name)
    for name in ("bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "range", "set")
} | {
    (module, getattr(found, "__qualname__", name)): found
    for module, name, found in (
        ("datetime", "date", datetime.date),
        ("datetime", "datetime", datetime.datetime),
        ("datetime", "time", datetime.time),
        ("datetime", "timedelta", datetime.timedelta),
        ("datetime", "timezone", datetime.timezone),
        ("collections", "OrderedDict", dict),
        ("msgspec._utils", "rebuild", _rebuild),
    )
}


@dataclass(frozen=True, kw_only=True)
class Handle:
    """Something that stays in Nodewright's process, for the plugin's to call back."""

    number: int
    #: ``simulation``, ``pricing``, ``clock`` or ``function``.
    interface: str
    #: What the plugin may read of it without a call.
    currency: str = ""


class Shared:
    """The values that both sides know by number, and the handles: the side of Nodewright."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._values: dict[int, object] = {}
        self._used: dict[int, float] = {}
        self._handles: dict[int, object] = {}
        self._next = 0
        self._swept = time.monotonic()

    def encode(self, value: object, opened: list[int]) -> bytes:
        """Return *value* for the plugin; add the handles that are made for it to *opened*."""
        file, first = io.BytesIO(), self._next
        try:
            _Sender(file, partial(self._reduced, opened=opened)).dump(value)
        except BaseException:
            for number in range(first + 1, self._next + 1):
                self._forget(number)
            raise
        return file.getvalue()

    def decode(self, payload: bytes) -> Any:
        """Return what the plugin sent. Raises `GarbageError`."""
        try:
            return _Reader(io.BytesIO(payload), self._known).load()
        except Exception as error:
            raise GarbageError(f"{type(error).__name__}: {error}") from error

    def handle(self, number: int) -> object:
        """Return what the handle stands for. Raises `GarbageError`."""
        if number not in self._handles:
            raise GarbageError("it called something back that it was not given")
        return self._handles[number]

    def close(self, opened: Sequence[int]) -> None:
        """Forget the handles *opened* for a call that has ended."""
        for number in opened:
            self._handles.pop(number, None)

    def sweep(self) -> tuple[int, ...]:
        """Forget values that were not used for a while, and return their numbers, for the plugin to forget as well.

        Must not be called while another call lasts.
        """
        now = time.monotonic()
        if now - self._swept < _KEEP_SECONDS:
            return ()
        gone = tuple(number for number, used in self._used.items() if used < self._swept)
        for number in gone:
            self._forget(number)
        self._swept = now
        return gone

    def _reduced(self, value: Any, *, opened: list[int]) -> Any:
        kind = type(value)
        if kind in _NUMBERED:
            number = self._numbers.get(id(value))
            if number is not None:
                self._used[number] = time.monotonic()
                return known, (number,)
            self._next = number = self._next + 1
            self._numbers[id(value)], self._values[number], self._used[number] = number, value, time.monotonic()
            state = dict(vars(value)) if is_dataclass(value) else msgspec.structs.asdict(value)
            return keep, (number, kind, state)
        if kind is types.MappingProxyType:
            return dict, (dict(value),)
        if kind is Placement:
            return dict, (dict(value.items()),)
        interface = _interface(value)
        if not interface:
            return NotImplemented
        self._next = number = self._next + 1
        self._handles[number] = value
        opened.append(number)
        currency = value.currency if isinstance(value, PricingModel) else ""
        return make_remote, (Handle(number=number, interface=interface, currency=currency),)

    def _known(self, number: int) -> object:
        return self._values[number]

    def _forget(self, number: int) -> None:
        if number in self._values:
            del self._numbers[id(self._values.pop(number))], self._used[number]


class Received:
    """The values that both sides know by number: the side of the plugin."""

    def __init__(self, remote: Callable[[Handle], object]) -> None:
        self._remote = remote
        self._values: dict[int, object] = {}
        self._numbers: dict[int, int] = {}

    def decode(self, payload: bytes) -> Any:
        """Return what Nodewright sent. For one thread, in the order of the frames."""
        own: dict[str, Callable[..., object]] = {
            "known": self._values.__getitem__,
            "keep": self._keep,
            "make_remote": self._remote,
        }
        return _TrustingReader(io.BytesIO(payload), own).load()

    def encode(self, value: object) -> bytes:
        """Return *value* for Nodewright; raises `TypeError` that names what can't be sent."""
        file = io.BytesIO()
        _Sender(file, self._reduced).dump(value)
        return file.getvalue()

    def forget(self, numbers: Sequence[int]) -> None:
        """Forget values that Nodewright does not know any more."""
        for number in numbers:
            value = self._values.pop(number)
            self._numbers.pop(id(value), None)

    def _keep(self, number: int, kind: type, state: dict[str, Any]) -> object:
        value: Any
        if is_dataclass(kind):
            value = object.__new__(kind)
            vars(value).update(state)
        else:
            value = kind(**state)
        self._values[number] = value
        self._numbers[id(value)] = number
        return value

    def _reduced(self, value: Any) -> Any:
        kind = type(value)
        if kind in _NUMBERED and (number := self._numbers.get(id(value))) is not None:
            return known, (number,)
        return _reduced_for_nodewright(value, kind)


def _reduced_for_nodewright(value: Any, kind: type) -> Any:
    """Return how *value* is pickled: as a value of the contract, or as the plain value that it is one of."""
    if isinstance(value, type):
        return NotImplemented if _allowed(value) else _refuse(f"the class {value.__name__}")
    if isinstance(value, types.FunctionType | types.BuiltinFunctionType):
        return NotImplemented if value in _BY_NAME else _refuse(f"the function {value.__name__}")
    if _allowed(kind):
        return (FrozenDict, (dict(value),)) if kind is FrozenDict else NotImplemented
    if isinstance(value, Mapping):
        return dict, (dict(value),)
    for base, plain in _PLAIN_VALUE.items():
        if isinstance(value, base):
            return _plain, (plain(value),)
    ours = next((each for each in kind.__mro__ if _allowed(each) and is_dataclass(each)), None)
    if ours is not None:
        return _restored, (ours, {each.name: getattr(value, each.name) for each in fields(ours)})
    return _refuse(_described(value))


def _described(value: object) -> str:
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _refuse(what: str) -> NoReturn:
    raise TypeError(f"returned {what}, which can't leave the plugin's process")


def known(number: int) -> NoReturn:
    """Stand for a value that the other side knows by *number*."""
    raise NotImplementedError


def keep(number: int, kind: type, state: dict[str, Any]) -> NoReturn:
    """Stand for a new value that the other side is to know by *number*."""
    raise NotImplementedError


def make_remote(handle: Handle) -> NoReturn:
    """Stand for what *handle* makes on the other side."""
    raise NotImplementedError


def _plain(value: object) -> object:
    return value


def _restored(kind: type, state: dict[str, Any]) -> object:
    value: object = object.__new__(kind)
    vars(value).update(state)
    return value


#: What may be in a pickle from a plugin besides classes.
_BY_NAME = {known, _plain, _restored, _rebuild}
#: How a value of a subclass becomes a plain one.
_PLAIN_VALUE: Mapping[type, Callable[[Any], object]] = {
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    bytes: bytes.__bytes__,
    list: list,
    tuple: partial(tuple.__new__, tuple),
    set: set,
    frozenset: frozenset,
}


class _Sender(pickle.Pickler):
    def __init__(self, file: io.BytesIO, reduced: Callable[[Any], Any]) -> None:
        super().__init__(file, protocol=5)
        self.reducer_override = reduced  # type: ignore[method-assign]


class _TrustingReader(pickle.Unpickler):
    """Reads what Nodewright sends."""

    def __init__(self, file: io.BytesIO, own: Mapping[str, Callable[..., object]]) -> None:
        super().__init__(file)
        self._own = own

    def find_class(self, module: str, name: str) -> Any:
        """Find what a pickle names."""
        own = self._own.get(name) if module == __name__ else None
        return own or super().find_class(module, name)


class _Reader(pickle.Unpickler):
    """Reads what a plugin sends."""

    def __init__(self, file: io.BytesIO, known: Callable[[int], object]) -> None:
        super().__init__(file)
        self._known = known

    def find_class(self, module: str, name: str) -> Any:
        """Find what a pickle names, if it is a value of the contract."""
        if module == __name__ and name == "known":
            return self._known
        return _find(module, name)


@cache
def _find(module: str, name: str) -> Any:
    if module == __name__ and name in ("_plain", "_restored"):
        return {"_plain": _plain, "_restored": _restored}[name]
    if (module, name) in _PLAIN:
        return _PLAIN[module, name]
    if f"{module}.".startswith(_OURS) and "." not in name:
        found = getattr(__import__(module, fromlist=[name]), name, None)
        if isinstance(found, type) and _allowed(found):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} is no value of the contract")


@cache
def _allowed(kind: type) -> bool:
    """Return whether values of this very *kind* may come from a plugin."""
    if (kind.__module__, kind.__qualname__) in _PLAIN or kind in (str, tuple, type(None)):
        return True
    if not f"{kind.__module__}.".startswith(_OURS):
        return False
    return is_dataclass(kind) or issubclass(kind, Enum | msgspec.Struct | NodewrightError | dict)


def _interface(value: object) -> str:
    """Return which interface *value* has that a plugin may call back; empty if it is sent as it is."""
    if isinstance(value, types.FunctionType | types.MethodType | partial | types.BuiltinMethodType):
        return "" if getattr(value, "__qualname__", "").isidentifier() else "function"
    if isinstance(value, PricingModel):
        return "pricing"
    if isinstance(value, type | Random):
        return ""
    if hasattr(value, "add_nodes") and hasattr(value, "place"):
        return "simulation"
    if hasattr(value, "now") and hasattr(value, "wait"):
        # A clock without a state of its own shows the same time in every process.
        return "" if _stateless(value) else "clock"
    return ""


def _stateless(value: object) -> bool:
    return not getattr(value, "__dict__", {}) and "<locals>" not in type(value).__qualname__
