"""Lists that people and installers write into metadata, such as ``a=b,c=d``."""

import math
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from nodewright.api import GroupOptions, Taint, nearest, parse_duration, parse_quantity, parse_resources

T = TypeVar("T")

_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
#: As Go reads them.
_SWITCHES = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


class ValueReader:
    """Reads values of one source. What can't be parsed is left out, and `mistakes` says so."""

    def __init__(self) -> None:
        #: Sentences.
        self.mistakes: list[str] = []

    def labels(self, where: str, text: str) -> dict[str, str]:
        """Return labels: ``key=value,…``."""
        return dict(self._entries(where, text, lambda part: _pair(part, _label)))

    def taints(self, where: str, text: str) -> tuple[Taint, ...]:
        """Return taints: ``key=value:effect,…``, or without the value."""
        return tuple(self._entries(where, text, _taint))

    def amounts(self, where: str, text: str) -> dict[str, int]:
        """Return amounts of resources, as in `nodewright.api.Resources`: ``resource=amount,…``."""
        return dict(self._entries(where, text, lambda part: _pair(part, _amount)))

    def thresholds(self, where: str, text: str) -> dict[str, str]:
        """Return thresholds by their signals: ``memory.available=100Mi,…``; kubelets have ``<`` in place of ``=``."""
        return dict(self._entries(where, text.replace("<", "="), lambda part: _pair(part, _threshold)))

    def options(self, where: str, text: str) -> dict[str, Any]:
        """Return values for fields of `GroupOptions`: ``scaledownunneededtime=5m,…``, in Cluster Autoscaler's names."""
        return dict(self._entries(where, text, lambda part: _pair(part, _option)))

    def number(self, where: str, text: str, *, least: int = 0) -> int | None:
        """Return a whole number of at least *least*; None if it is none."""
        return self._read(where, text.strip(), lambda part: _number(part, least))

    def add(self, where: str, why: str) -> None:
        """Note a mistake."""
        self.mistakes.append(f"{where}: {why}")

    def _entries(self, where: str, text: str, parse: Callable[[str], T]) -> list[T]:
        parts = (part.strip() for part in text.split(","))
        found = (self._read(where, part, parse) for part in parts if part)
        return [value for value in found if value is not None]

    def _read(self, where: str, text: str, parse: Callable[[str], T]) -> T | None:
        try:
            return parse(text)
        except ValueError as error:
            self.add(where, f"{text!r} is ignored: {error}")
            return None


def _pair(text: str, parse: Callable[[str, str], tuple[str, T]]) -> tuple[str, T]:
    key, equals, value = (part.strip() for part in text.partition("="))
    if not key or not equals:
        raise ValueError("write key=value")
    return parse(key, value)


def _label(key: str, value: str) -> tuple[str, str]:
    if not _LABEL_VALUE.fullmatch(value):
        raise ValueError(
            "this is no value of a label: write up to 63 letters, digits, dashes, dots and underscores, "
            "with a letter or digit at both ends"
        )
    return key, value


def _taint(text: str) -> Taint:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    if not key or effect not in _EFFECTS:
        raise ValueError(f"write key=value:effect, such as gpu=true:NoSchedule, with one of {', '.join(_EFFECTS)}")
    return Taint(key=key, value=_label(key, value)[1], effect=effect)


def _amount(resource: str, text: str) -> tuple[str, int]:
    amount = parse_resources({resource: text})[resource]
    if amount < 0:
        raise ValueError("an amount can't be negative")
    return resource, amount


def _threshold(signal: str, text: str) -> tuple[str, str]:
    amount = float(text[:-1]) if text.endswith("%") else parse_quantity(text)
    if not 0 <= amount < math.inf:
        raise ValueError("write an amount such as 200Mi, or a percentage such as 10%")
    return signal, text


def _number(text: str, least: int) -> int:
    if not text.isdecimal() or int(text) < least:
        raise ValueError(f"write a whole number of at least {least}")
    return int(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share <= 1:
        raise ValueError("write a number from 0 to 1, such as 0.5")
    return share


def _duration(text: str) -> timedelta:
    duration = parse_duration(text)
    if duration < timedelta(0):
        raise ValueError("a time can't be negative")
    return duration


def _switch(text: str) -> bool:
    if text not in _SWITCHES:
        raise ValueError("write true or false")
    return _SWITCHES[text]


_PARSERS: Mapping[type, Callable[[str], Any]] = {float: _share, timedelta: _duration, bool: _switch}
#: By Cluster Autoscaler's names: those of the fields, without underscores.
_OPTIONS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    name.replace("_", ""): (name, _PARSERS[type(default)]) for name, default in vars(GroupOptions()).items()
}


def _option(name: str, text: str) -> tuple[str, Any]:
    if name not in _OPTIONS:
        meant = nearest(name, tuple(_OPTIONS))
        raise ValueError(
            f"there is no such option: {f'did you mean {meant}?' if meant else 'use one of ' + ', '.join(_OPTIONS)}"
        )
    field, parse = _OPTIONS[name]
    return field, parse(text)
