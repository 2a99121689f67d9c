"""Node-template tags: what neither Cluster Autoscaler nor this plugin can find out about new nodes."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from nodewright.api import GroupOptions, Taint, nearest, parse_duration, parse_resources

_PREFIX = "k8s.io/cluster-autoscaler/node-template/"
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
#: As Go reads them.
_SWITCHES = dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "false", "FALSE", "False"), False
)


@dataclass(frozen=True, kw_only=True)
class NodeTags:
    """What the tags of a group say about its nodes."""

    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()
    resources: Mapping[str, int] = field(default_factory=dict)
    #: Values for fields of `GroupOptions`.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Tags that were ignored and why, each in a sentence.
    mistakes: tuple[str, ...] = ()


def read_tags(tags: Mapping[str, str]) -> NodeTags:
    """Return what *tags* say. Tags that can't be parsed are ignored and listed as mistakes."""
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    resources: dict[str, int] = {}
    options: dict[str, Any] = {}
    mistakes = []
    for tag, value in sorted(tags.items()):
        if not tag.startswith(_PREFIX):
            continue
        kind, _, name = tag.removeprefix(_PREFIX).partition("/")
        try:
            if not name:
                raise ValueError("there is no name after its last slash")
            match kind:
                case "label":
                    labels[name] = _label(value)
                case "taint":
                    taints.append(_taint(name, value))
                case "resources":
                    resources[name] = _amount(name, value)
                case "autoscaling-options":
                    option, parse = _option(name)
                    options[option] = parse(value)
                case _:
                    known = ("label", "taint", "resources", "autoscaling-options")
                    raise ValueError(f"{kind!r} is unknown: write {nearest(kind, known) or ', '.join(known)}")
        except ValueError as error:
            mistakes.append(f"tag {tag} with the value {value!r} is ignored: {error}")
    return NodeTags(labels=labels, taints=tuple(taints), resources=resources, options=options, mistakes=tuple(mistakes))


def _label(value: str) -> str:
    if not _LABEL_VALUE.fullmatch(value):
        raise ValueError(
            "this is no value of a label: write up to 63 letters, digits, dashes, dots and underscores, "
            "with a letter or digit at both ends"
        )
    return value


def _taint(key: str, text: str) -> Taint:
    value, colon, effect = text.rpartition(":")
    if not colon or effect not in _EFFECTS:
        raise ValueError(f"write value:effect, such as true:NoSchedule, with one of {', '.join(_EFFECTS)}")
    return Taint(key=key, value=_label(value), effect=effect)


def _amount(resource: str, text: str) -> int:
    amount = parse_resources({resource: text.strip()})[resource]
    if amount < 0:
        raise ValueError("an amount can't be negative")
    return amount


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


def _option(name: str) -> tuple[str, Callable[[str], Any]]:
    if name not in _OPTIONS:
        meant = nearest(name, tuple(_OPTIONS))
        raise ValueError(
            f"there is no such option: {f'did you mean {meant}?' if meant else 'use one of ' + ', '.join(_OPTIONS)}"
        )
    return _OPTIONS[name]
