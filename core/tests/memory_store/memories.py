"""Memories of all kinds, and a store for them that needs no API server."""

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from nodewright.api.errors import ConflictError
from nodewright.api.template import NodeTemplate
from nodewright.decision.memory import Memory
from nodewright.decision.memory.memory import PLACES
from nodewright.memory_store.store import Stored
from nodewright.testing.builders import a_template

_PLAIN = {
    datetime: st.datetimes(datetime(2000, 1, 1), datetime(2199, 1, 1), timezones=st.just(UTC)),
    timedelta: st.timedeltas(timedelta(0), timedelta(days=3000)),
    str: st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    int: st.integers(-(2**40), 2**40),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    type(None): st.none(),
    NodeTemplate: st.sampled_from([a_template(), a_template(cpu="3", labels={"a": "ä"}, zone="eu-b")]),
}


def without_slices(memory):
    """The fields of all slices, by the names that they had when there were no slices."""
    found = {}
    for name, way in PLACES.items():
        value = memory
        for step in way:
            value = getattr(value, step)
        found[name] = value
    return found


def any_of(hint):
    """Values of a type, of every field of it: whoever adds one to memory need not think of this."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is UnionType:
        return st.one_of(*map(any_of, parts))
    if origin in (dict, Mapping):
        return st.dictionaries(any_of(parts[0]), any_of(parts[1]), max_size=3)
    if origin is tuple and parts[-1] is ...:
        return st.lists(any_of(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*map(any_of, parts))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(hint)
    assert dataclasses.is_dataclass(hint), f"teach this test of {hint}"
    hints = get_type_hints(hint)
    return st.builds(hint, **{each.name: any_of(hints[each.name]) for each in dataclasses.fields(hint)})


MEMORIES = any_of(Memory)


class Shelf:
    """A store in this process; *lose* lets writes fail, after or before they are done."""

    place, aside, limit = "the shelf", "the other shelf", 750 * 1024

    def __init__(self, content=None):
        self.content = content
        self.version = 1 if content is not None else 0
        self.apart = []
        self.writes = 0
        self.before = lambda: None
        self.after = lambda: None
        self.reading = lambda: None

    def read(self):
        self.reading()
        return None if self.content is None else Stored(content=self.content, version=str(self.version))

    def write(self, content, version):
        self.before()
        if version != (str(self.version) if self.content is not None else ""):
            raise ConflictError("somebody was faster", status=409)
        self.writes += 1
        self.version += 1
        self.content = content
        self.after()
        return str(self.version)

    def set_aside(self, content):
        self.before()
        self.apart.append(content)
