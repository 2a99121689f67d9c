"""All that is remembered gets into a scenario and back."""

from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from nodewright.api import NodeTemplate
from nodewright.decision.memory import Memory
from nodewright.scenario.memory import read_memory, write_memory
from nodewright.scenario.names import Names
from nodewright.testing.builders import a_template
from nodewright.testing.clock import EPOCH

_SIMPLE: dict[Any, Any] = {str: "a:b/c", int: 7, float: 0.5, datetime: EPOCH, timedelta: timedelta(minutes=7)}


def full(kind: Any) -> Any:
    """A value of *kind* in which nothing is empty, and nothing is as it is by default."""
    if kind is NodeTemplate:
        return a_template(labels={"pool": "a"})
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{each.name: _full_field(hints[each.name], each.default) for each in fields(kind)})
    arguments = get_args(kind)
    if get_origin(kind) is dict:
        return {full(arguments[0]): full(arguments[1])}
    if get_origin(kind) is tuple:
        return tuple(full(each) for each in arguments if each is not Ellipsis)
    return full(next(each for each in arguments if each is not NoneType))


def _full_field(kind: Any, default: Any) -> Any:
    return default is MISSING or not default if kind is bool else full(kind)


def test_every_field_of_memory_gets_into_a_scenario_and_back() -> None:
    memory = full(Memory)
    assert read_memory(dict(write_memory(memory, (), Names())), ()) == memory
